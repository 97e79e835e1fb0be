package gen

import "github.com/msrep-go/msrep/sparse"

var (
	arrowInfo = Info{
		Name:    "arrow",
		Summary: "a full first row, first column and diagonal; symmetric",
		Example: "arrow:n=1M",
		Params:  []Param{{"n", "1k", "rows and columns"}, valueParam, seedParam},
	}
	diagInfo = Info{
		Name:    "diag",
		Summary: "a full diagonal; symmetric",
		Example: "diag:n=1M,value=ones",
		Params:  []Param{{"n", "1k", "rows and columns"}, valueParam, seedParam},
	}
	denseInfo = Info{
		Name:    "dense",
		Summary: "every position is an entry",
		Example: "dense:rows=500,cols=300",
		Params:  []Param{{"rows", "100", "rows"}, colsParam, valueParam, seedParam},
	}
	emptyInfo = Info{
		Name:    "empty",
		Summary: "no entries",
		Example: "empty:rows=1M,cols=10",
		Params:  []Param{{"rows", "1k", "rows"}, colsParam},
	}
)

func arrow(p *params) *plan {
	n := p.dim("n", 0)
	pl := &plan{rows: n, cols: n, entries: max(3*n-2, 0), symmetric: true}
	pl.setValues(p)
	pl.lengths = perRow(func(i int64) int64 {
		if i == 0 {
			return n
		}
		return 2
	})
	pl.row = func(i int64, col []int32, _ *scratch) {
		if i == 0 {
			countUp(col)
			return
		}
		col[0], col[1] = 0, int32(i)
	}
	return pl
}

func diag(p *params) *plan {
	n := p.dim("n", 0)
	pl := &plan{rows: n, cols: n, entries: n, symmetric: true}
	pl.setValues(p)
	pl.lengths = perRow(func(int64) int64 { return 1 })
	pl.row = func(i int64, col []int32, _ *scratch) { col[0] = int32(i) }
	return pl
}

func dense(p *params) *plan {
	rows := p.dim("rows", 0)
	cols := p.dimOr("cols", 0, rows)
	pl := &plan{rows: rows, cols: cols, entries: rows * cols}
	pl.setValues(p)
	pl.lengths = perRow(func(int64) int64 { return cols })
	pl.row = func(_ int64, col []int32, _ *scratch) { countUp(col) }
	return pl
}

func empty(p *params) *plan {
	rows := p.dim("rows", 0)
	return &plan{
		rows: rows, cols: p.dimOr("cols", 0, rows), field: sparse.Real,
		lengths: perRow(func(int64) int64 { return 0 }),
		value:   func(_, _ int64) float64 { return 0 },
	}
}

// countUp sets col to 0, 1, 2, ...
func countUp(col []int32) {
	for j := range col {
		col[j] = int32(j)
	}
}
