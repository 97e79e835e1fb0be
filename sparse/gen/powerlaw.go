package gen

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

var powerlawInfo = Info{
	Name:    "powerlaw",
	Summary: "row lengths k with frequency about k^-r, columns drawn uniformly",
	Example: "powerlaw:rows=1M,nnz=10M,r=2.1",
	Params: []Param{
		{"rows", "1k", "rows"},
		colsParam,
		{"nnz", "10k", "exact number of entries; no row is empty if nnz >= rows"},
		{"r", "2.1", "exponent, 1.1 to 10: a smaller exponent gives a longer longest row"},
		valueParam, seedParam,
	},
}

func powerlaw(p *params) *plan {
	rows := p.dim("rows", 0)
	cols := p.dimOr("cols", 0, rows)
	nnz := p.count("nnz", 0, rows*cols)
	r := p.number("r", 1.1, 10)
	pl := &plan{rows: rows, cols: cols, entries: nnz, extra: 8 * rows}
	pl.setValues(p)
	s := p.seed()
	pl.lengths = func(ctx context.Context, n []int64) {
		powerLengths(ctx, s.sub(lengthStream), n, nnz, cols, r)
	}
	pl.row = randomColumns(s.sub(columnStream), cols)
	return pl
}

// powerLengths sets n to row lengths with sum nnz. Each row has a weight w >= 1 with the
// density of w^-r (a Pareto distribution).
func powerLengths(ctx context.Context, s seed, n []int64, nnz, cols int64, r float64) {
	w := make([]float64, len(n))
	perIndex(ctx, int64(len(n)), func(i int64) {
		u := float64(s.at(uint64(i))>>11+1) * 0x1p-53 // in (0, 1]
		w[i] = math.Pow(u, -1/(r-1))
	})
	fitLengths(ctx, n, w, nnz, cols)
}

// fitLengths sets n[i] to base + min(floor(scale*w[i]), cols-base), with the scale for
// which the sum is nnz. base is 1 if there are enough entries for all rows, else 0.
// Weights are finite and at least 1; nnz is at most len(n)*cols.
func fitLengths(ctx context.Context, n []int64, w []float64, nnz, cols int64) {
	rows := int64(len(n))
	if nnz == 0 {
		return
	}
	base := int64(0)
	if nnz >= rows {
		base = 1
	}
	rest, most := nnz-base*rows, float64(cols-base)
	length := func(i int64, scale float64) int64 { return int64(min(scale*w[i], most)) }
	sum := func(scale float64) int64 {
		var all atomic.Int64
		par.Range(rows, 1<<13, func(lo, hi int64) {
			var part int64
			for i := lo; i < hi; i++ {
				part += length(i, scale)
			}
			all.Add(part)
		})
		return all.Load()
	}
	// Bisect for the neighbouring floats lo and hi between which the sum exceeds rest.
	// The bits of positive floats have the order of the floats.
	lo, hi := uint64(0), math.Float64bits(float64(cols))
	if sum(float64(cols)) <= rest {
		lo = hi // every row is full
	}
	for lo+1 < hi && ctx.Err() == nil {
		if mid := lo + (hi-lo)/2; sum(math.Float64frombits(mid)) <= rest {
			lo = mid
		} else {
			hi = mid
		}
	}
	if ctx.Err() != nil {
		return
	}
	below, above := math.Float64frombits(lo), math.Float64frombits(hi)
	perIndex(ctx, rows, func(i int64) { n[i] = base + length(i, below) })
	// If several rows grow between lo and hi, the first of them get the missing entries.
	short := rest - sum(below)
	for i := int64(0); i < rows && short > 0; i++ {
		if length(i, above) > length(i, below) {
			n[i]++
			short--
		}
	}
}
