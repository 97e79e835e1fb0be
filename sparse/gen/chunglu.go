package gen

import (
	"context"
	"math"
	"slices"
)

var chungluInfo = Info{
	Name:    "chunglu",
	Summary: "rows and columns of about k entries with frequency about k^-r, so that node i is long in both (Chung and Lu); near 1, r makes gene-like matrices",
	Example: "chunglu:n=1M,nnz=30M,r=2.1,local=0.5",
	Params: []Param{
		{"n", "1k", "rows and columns"},
		{"nnz", "10k", "entries, exactly, and from n on no row is empty; about, and fewer, with dangling or closed"},
		{"r", "2.1", "exponent, 0.5 to 10: smaller means more long rows"},
		{"longest", "", "by how much the longest row may pass the shortest; n unless given"},
		{"local", "0", "share of the columns that lie near the diagonal, 0 to 1"},
		{"width", "1k", "how far from the diagonal those lie, at most"},
		{"dangling", "0", "share of the rows that lose their entries, 0 to 1: pages without links"},
		{"closed", "0", "share of the rows, in pairs, whose only entry is in the column of the other, 0 to 1: pages that link to each other alone"},
		valueParam, seedParam,
	},
}

func chunglu(p *params) *plan {
	n := p.dim("n", 0)
	nnz := p.count("nnz", 0, n*n)
	r := p.number("r", 0.5, 10)
	longest := p.dimOr("longest", 1, max(n, 1))
	c := nodes{n: n, local: chance(min(p.number("local", 0, 1), 1-0x1p-53)), width: p.dim("width", 1)}
	pl := &plan{rows: n, cols: n, entries: nnz, extra: 16 * n}
	pl.setValues(p)
	s := p.seed()
	c.seed = s.sub(columnStream)
	pl.lengths = func(ctx context.Context, length []int64) {
		w := powerWeights(ctx, s.sub(lengthStream), n, r, float64(longest))
		if ctx.Err() != nil {
			return
		}
		c.sumWeights(w)
		fitLengths(ctx, length, w, nnz, n)
	}
	pl.row = c.columns
	e := ends{seed: s.sub(endStream), n: n, closed: chance(min(p.number("closed", 0, 1), 1-0x1p-53)), dangling: chance(min(p.number("dangling", 0, 1), 1-0x1p-53))}
	if e.closed > 0 || e.dangling > 0 {
		e.applyTo(pl)
	}
	return pl
}

// ends is the rows of a web graph from which a walk along the links comes to no other part of
// it: dangling ones, and closed pairs 2j, 2j+1.
type ends struct {
	seed             seed
	n                int64
	closed, dangling uint64 // chances of a pair and of a row
}

// isClosed reports whether row i belongs to a closed pair. The last of an odd number of rows
// has no partner.
func (e *ends) isClosed(i int64) bool { return i|1 < e.n && e.seed.at(uint64(i/2)) < e.closed }

// isDangling is for rows that are not closed.
func (e *ends) isDangling(i int64) bool { return e.seed.sub(1).at(uint64(i)) < e.dangling }

// applyTo replaces the rows of a plan that are ends.
func (e *ends) applyTo(pl *plan) {
	lengths, row := pl.lengths, pl.row
	pl.lengths = func(ctx context.Context, n []int64) {
		lengths(ctx, n)
		perIndex(ctx, e.n, func(i int64) {
			switch {
			case e.isClosed(i):
				n[i] = 1
			case e.isDangling(i):
				n[i] = 0
			}
		})
	}
	pl.row = func(i int64, col []int32, s *scratch) {
		if e.isClosed(i) {
			col[0] = int32(i ^ 1)
			return
		}
		row(i, col, s)
	}
	pl.entries += e.n // closed rows that were empty
}

// powerWeights draws weights in [1, most] with the density of w^-r: the inverse of
// their distribution at uniform numbers.
func powerWeights(ctx context.Context, s seed, n int64, r, most float64) []float64 {
	w := make([]float64, n)
	perIndex(ctx, n, func(i int64) {
		u := float64(s.at(uint64(i))>>11+1) * 0x1p-53 // in (0, 1]
		if math.Abs(r-1) < 1e-6 {
			w[i] = math.Pow(most, 1-u)
			return
		}
		least := math.Pow(most, 1-r)
		w[i] = min(max(math.Pow(least+u*(1-least), 1/(1-r)), 1), most)
	})
	return w
}

// nodes draws columns in proportion to the weights of nodes.
type nodes struct {
	seed  seed
	n     int64
	local uint64 // chance of a column near the diagonal
	width int64
	upTo  []uint64 // of node j, the sum of weights up to it, where all have 2^63
}

// sumWeights prepares drawing.
func (c *nodes) sumWeights(w []float64) {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	c.upTo = make([]uint64, len(w))
	before := 0.0
	for j, v := range w {
		before += v
		c.upTo[j] = uint64(before / sum * 0x1p63)
	}
}

// drawnRounds is how often a row whose columns came twice is drawn for again
// before the rest is taken uniformly: rows that are nearly full, or of which a few
// columns have most of the weight, would take for ever.
const drawnRounds = 4

// columns is a plan.row.
func (c *nodes) columns(i int64, col []int32, tmp *scratch) {
	row := c.seed.sub(uint64(i))
	if int64(len(col)) > c.n/8 {
		row.selectColumns(col, c.n)
		return
	}
	drawn := uint64(0)
	idx := slices.Grow(tmp.idx[:0], len(col))
	for round := 0; len(idx) < len(col); round++ {
		for len(idx) < len(col) {
			idx = append(idx, c.draw(row, drawn, i, round >= drawnRounds))
			drawn++
		}
		slices.Sort(idx)
		idx = slices.Compact(idx)
	}
	copy(col, idx)
	tmp.idx = idx
}

// draw is one column for row i.
func (c *nodes) draw(row seed, k uint64, i int64, uniform bool) int32 {
	where := row.at(2*k + 1)
	switch {
	case uniform:
		return int32(scaled(where, uint64(c.n)))
	case row.at(2*k) < c.local:
		return c.within(where, max(i-c.width, 0), min(i+c.width, c.n-1))
	}
	return c.within(where, 0, c.n-1)
}

// within picks one of the columns lo to hi in proportion to their weights.
func (c *nodes) within(bits uint64, lo, hi int64) int32 {
	before := uint64(0)
	if lo > 0 {
		before = c.upTo[lo-1]
	}
	at := before + scaled(bits, max(c.upTo[hi]-before, 1)) + 1
	j, _ := slices.BinarySearch(c.upTo[lo:hi+1], at)
	return int32(min(lo+int64(j), hi))
}
