package gen

import "context"

var randomInfo = Info{
	Name:    "random",
	Summary: "a given number of entries at positions drawn uniformly",
	Example: "random:rows=1M,nnz=16M,seed=3",
	Params: []Param{
		{"rows", "1k", "rows"},
		colsParam,
		{"nnz", "10k", "exact number of entries"},
		valueParam, seedParam,
	},
}

func random(p *params) *plan {
	rows := p.dim("rows", 0)
	cols := p.dimOr("cols", 0, rows)
	nnz := p.count("nnz", 0, rows*cols)
	pl := &plan{rows: rows, cols: cols, entries: nnz}
	pl.setValues(p)
	s := p.seed()
	pl.lengths = func(ctx context.Context, n []int64) {
		distribute(ctx, s.sub(lengthStream), 1, n, nnz, cols)
	}
	pl.row = randomColumns(s.sub(columnStream), cols)
	return pl
}
