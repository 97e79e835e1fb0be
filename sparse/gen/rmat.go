package gen

import (
	"context"
	"slices"
	"sync/atomic"
)

var rmatInfo = Info{
	Name:    "rmat",
	Summary: "a recursive (Graph500-like) random graph; repeated edges are dropped",
	Example: "rmat:scale=20,edges=16,seed=7",
	Params: []Param{
		{"scale", "10", "rows and columns are 2^scale; at most 30"},
		{"edges", "16", "edges drawn per row; repeated edges are dropped, so fewer remain"},
		{"a", "0.57", "probability of the upper left quarter"},
		{"b", "0.19", "probability of the upper right quarter"},
		{"c", "0.19", "probability of the lower left quarter; the lower right quarter has the rest"},
		valueParam, seedParam,
	},
}

func rmat(p *params) *plan {
	scale := p.count("scale", 0, 30)
	n := int64(1) << scale
	edges := n * p.count("edges", 0, 1<<20)
	a, b, c := p.number("a", 0, 1), p.number("b", 0, 1), p.number("c", 0, 1)
	// Rounding may make a sum of 1 slightly larger.
	if a+b+c > 1+1e-12 {
		p.fail("a+b+c is %g: the probabilities of three quarters must not exceed 1", a+b+c)
	}
	pl := &plan{rows: n, cols: n, entries: edges, extra: 4*edges + 16*n}
	pl.setValues(p)
	e := edgeSource{
		seed:  p.seed().sub(columnStream),
		scale: int(scale),
		a:     uint64(a * 0x1p32), ab: uint64((a + b) * 0x1p32), abc: uint64((a + b + c) * 0x1p32),
	}
	pl.structure = func(ctx context.Context) ([]int64, []int32) {
		ptr, idx := e.build(ctx, n, edges)
		if ctx.Err() != nil {
			return nil, nil
		}
		return dropRepeated(ctx, ptr, idx)
	}
	return pl
}

// edgeSource draws edges. a, ab and abc are thresholds for 32 random bits.
type edgeSource struct {
	seed       seed
	scale      int
	a, ab, abc uint64
}

// edge draws edge k: at each level one of four quarters, from 32 random bits.
//
// The code finds the quarter without branches, because no processor could predict them:
// the lower half begins at ab, the right half is between a and ab and above abc.
func (e *edgeSource) edge(k int64) (i, j int64) {
	s := e.seed.sub(uint64(k))
	var h, row, col uint64
	for level := range e.scale {
		if level%2 == 0 {
			h = s.at(uint64(level))
		}
		r := h & (1<<32 - 1)
		h >>= 32
		lower := reaches(r, e.ab)
		row = row<<1 | lower
		col = col<<1 | (reaches(r, e.a) ^ lower ^ reaches(r, e.abc))
	}
	return int64(row), int64(col)
}

// reaches returns 1 if x >= limit, else 0, for numbers below 2^63.
func reaches(x, limit uint64) uint64 { return (limit - 1 - x) >> 63 }

// build draws all edges twice: first to count the entries of the rows, then to store
// them. The columns of a row are not sorted.
func (e *edgeSource) build(ctx context.Context, rows, edges int64) (ptr []int64, idx []int32) {
	ptr = make([]int64, rows+1)
	e.each(ctx, edges, func(i, _ int64) { atomic.AddInt64(&ptr[i+1], 1) })
	if ctx.Err() != nil {
		return nil, nil
	}
	sumUp(ptr)
	idx = make([]int32, edges)
	next := slices.Clone(ptr[:rows])
	e.each(ctx, edges, func(i, j int64) { idx[atomic.AddInt64(&next[i], 1)-1] = int32(j) })
	return ptr, idx
}

// each calls visit for every edge, on several goroutines.
func (e *edgeSource) each(ctx context.Context, edges int64, visit func(i, j int64)) {
	perIndex(ctx, edges, func(k int64) { visit(e.edge(k)) })
}

// dropRepeated sorts the columns of each row, drops repeated ones, and copies the others
// to new arrays.
func dropRepeated(ctx context.Context, ptr []int64, idx []int32) ([]int64, []int32) {
	packed := make([]int64, len(ptr))
	simple := func(visit func(i int64)) func() func(i int64) { return func() func(i int64) { return visit } }
	eachRow(ctx, ptr, simple(func(i int64) {
		row := idx[ptr[i]:ptr[i+1]]
		slices.Sort(row)
		packed[i+1] = int64(len(slices.Compact(row)))
	}))
	if ctx.Err() != nil {
		return nil, nil
	}
	sumUp(packed)
	out := make([]int32, packed[len(packed)-1])
	eachRow(ctx, ptr, simple(func(i int64) {
		copy(out[packed[i]:packed[i+1]], idx[ptr[i]:])
	}))
	return packed, out
}
