package gen

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// plan describes a matrix that is not generated yet.
type plan struct {
	rows, cols int64
	entries    int64 // number of entries, exact or slightly too large
	extra      int64 // bytes needed during generation beside the result
	symmetric  bool
	field      sparse.Field
	value      func(i, j int64) float64

	// lengths sets n[i] to the number of entries of row i, for all rows.
	lengths func(ctx context.Context, n []int64)
	// row fills col with the columns of row i, ascending and distinct.
	row func(i int64, col []int32, s *scratch)
	// structure replaces lengths and row if rows cannot be generated independently.
	structure func(ctx context.Context) (rowPtr []int64, colIdx []int32)
}

// scratch is memory that a goroutine reuses for each row.
type scratch struct{ idx []int32 }

// bytes returns the memory that generation takes, or MaxInt64 if it exceeds that.
func (pl *plan) bytes() int64 {
	if pl.entries > math.MaxInt64/64 || pl.extra > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return 8*(pl.rows+1) + 12*pl.entries + pl.extra
}

// build generates the matrix.
func (pl *plan) build(ctx context.Context) (*sparse.CSR[float64], error) {
	m := &sparse.CSR[float64]{Rows: int(pl.rows), Cols: int(pl.cols)}
	if pl.structure != nil {
		m.RowPtr, m.ColIdx = pl.structure(ctx)
	} else {
		m.RowPtr, m.ColIdx = pl.byRows(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.Val = make([]float64, len(m.ColIdx))
	eachRow(ctx, m.RowPtr, func() func(i int64) {
		return func(i int64) {
			for k := m.RowPtr[i]; k < m.RowPtr[i+1]; k++ {
				m.Val[k] = pl.value(i, int64(m.ColIdx[k]))
			}
		}
	})
	return m, ctx.Err()
}

// byRows generates the row pointers, then the columns of each row.
func (pl *plan) byRows(ctx context.Context) ([]int64, []int32) {
	ptr := make([]int64, pl.rows+1)
	pl.lengths(ctx, ptr[1:])
	if ctx.Err() != nil {
		return nil, nil
	}
	sumUp(ptr)
	idx := make([]int32, ptr[pl.rows])
	eachRow(ctx, ptr, func() func(i int64) {
		var s scratch
		return func(i int64) {
			if col := idx[ptr[i]:ptr[i+1]]; len(col) > 0 {
				pl.row(i, col, &s)
			}
		}
	})
	return ptr, idx
}

// sumUp replaces the lengths of rows, in ptr[1:], by row pointers.
func sumUp(ptr []int64) {
	for i := 1; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
}

// perRow returns a plan.lengths that calls f for each row.
func perRow(f func(i int64) int64) func(ctx context.Context, n []int64) {
	return func(ctx context.Context, n []int64) {
		perIndex(ctx, int64(len(n)), func(i int64) { n[i] = f(i) })
	}
}

// perIndex calls f for 0 to n-1 on several goroutines. It ends early when ctx ends.
func perIndex(ctx context.Context, n int64, f func(i int64)) {
	par.Range(n, 1<<13, func(lo, hi int64) {
		for i := lo; i < hi && (i&0xfff != 0 || ctx.Err() == nil); i++ {
			f(i)
		}
	})
}

// eachRow visits all rows on several goroutines. It divides the rows into pieces of about
// equal work, and each goroutine takes the next piece when it is idle. start returns a
// separate function for each goroutine. eachRow ends early when ctx ends.
func eachRow(ctx context.Context, ptr []int64, start func() func(i int64)) {
	const grain = 1 << 14
	rows := int64(len(ptr)) - 1
	work := ptr[rows] + rows // entries and rows
	pieces := int(min(max(work/grain, 1), 1<<16))
	var next atomic.Int64
	par.Do(min(par.Workers(work, grain), pieces), func(int) {
		visit := start()
		for ctx.Err() == nil {
			piece := int(next.Add(1)) - 1
			if piece >= pieces {
				return
			}
			end := firstRow(ptr, par.Cut(work, pieces, piece+1))
			for i := firstRow(ptr, par.Cut(work, pieces, piece)); i < end; i++ {
				visit(i)
			}
		}
	})
}

// firstRow returns the first row i with ptr[i] + i >= x. Both terms increase.
func firstRow(ptr []int64, x int64) int64 {
	lo, hi := int64(0), int64(len(ptr))-1
	for lo < hi {
		if mid := (lo + hi) / 2; ptr[mid]+mid < x {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// lowerHalf counts the entries on and below the diagonal.
func lowerHalf(m *sparse.CSR[float64]) int64 {
	var n atomic.Int64
	par.Range(int64(m.Rows), 1<<13, func(lo, hi int64) {
		var part int64
		for i := lo; i < hi; i++ {
			for _, j := range m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]] {
				if int64(j) <= i {
					part++
				}
			}
		}
		n.Add(part)
	})
	return n.Load()
}

// setValues reads the parameters value and seed and sets field and value.
func (pl *plan) setValues(p *params) {
	s, cols := p.seed().sub(valueStream), uint64(pl.cols)
	if p.choice("value", "random", "ones") == "ones" {
		pl.field = sparse.Pattern
		pl.value = func(_, _ int64) float64 { return 1 }
		return
	}
	pl.field = sparse.Real
	pl.value = func(i, j int64) float64 {
		if pl.symmetric && j > i {
			i, j = j, i
		}
		return s.uniform(uint64(i)*cols + uint64(j))
	}
}

// Independent streams of random numbers from one seed.
const (
	valueStream = iota
	columnStream
	lengthStream
	sinkStream
)
