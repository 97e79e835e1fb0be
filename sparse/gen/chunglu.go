package gen

import (
	"context"
	"math"
	"slices"
)

var chungluInfo = Info{
	Name:    "chunglu",
	Summary: "the frequency of rows and columns with k entries is about k^-r, and row i is long if column i is (Chung and Lu); r near 1 gives gene-like matrices",
	Example: "chunglu:n=1M,nnz=30M,r=2.1,local=0.5",
	Params: []Param{
		{"n", "1k", "rows and columns"},
		{"nnz", "10k", "number of entries: exact without dangling and closed, else approximate and mostly smaller; no row is empty if nnz >= n and dangling is 0"},
		{"r", "2.1", "exponent, 0.5 to 10: smaller means more long rows"},
		{"longest", "", "upper bound of the ratio of the longest row to the shortest, approximately; n unless given"},
		{"local", "0", "fraction of the entries that are near the diagonal, 0 to 1"},
		{"width", "1k", "largest distance from the diagonal of the entries near it"},
		{"dangling", "0", "fraction of the rows without entries, 0 to 1: pages without links"},
		{"closed", "0", "fraction of the rows that form pairs i, j with the only entries (i, j) and (j, i), 0 to 1: pages that only link to each other"},
		valueParam, seedParam,
	},
}

func chunglu(p *params) *plan {
	n := p.dim("n", 0)
	nnz := p.count("nnz", 0, n*n)
	r := p.number("r", 0.5, 10)
	longest := p.dimOr("longest", 1, max(n, 1))
	c := nodes{n: n, local: threshold(min(p.number("local", 0, 1), 1-0x1p-53)), width: p.dim("width", 1)}
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
	e := sinks{seed: s.sub(sinkStream), n: n, closed: threshold(min(p.number("closed", 0, 1), 1-0x1p-53)), dangling: threshold(min(p.number("dangling", 0, 1), 1-0x1p-53))}
	if e.closed > 0 || e.dangling > 0 {
		e.applyTo(pl)
	}
	return pl
}

// sinks is the rows of a web graph that a random walk along the links cannot leave:
// dangling rows, and closed pairs 2j, 2j+1.
type sinks struct {
	seed             seed
	n                int64
	closed, dangling uint64 // probability of a closed pair, and of a dangling row
}

// isClosed reports whether row i belongs to a closed pair. The last of an odd number of
// rows has no partner.
func (e *sinks) isClosed(i int64) bool { return i|1 < e.n && e.seed.at(uint64(i/2)) < e.closed }

// isDangling reports whether row i, which is not closed, is dangling.
func (e *sinks) isDangling(i int64) bool { return e.seed.sub(1).at(uint64(i)) < e.dangling }

// applyTo replaces the rows of a plan that are sinks.
func (e *sinks) applyTo(pl *plan) {
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
	pl.entries += e.n // for closed rows that were empty before
}

// powerWeights draws weights in [1, most] with the density of w^-r, by inverting their
// distribution at uniform random numbers.
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

// nodes draws columns in proportion to the weights of the nodes.
type nodes struct {
	seed  seed
	n     int64
	local uint64 // probability of a column near the diagonal
	width int64
	upTo  []uint64 // sum of the weights of nodes 0 to j, scaled to a total of 2^63
}

// sumWeights computes upTo.
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

// drawnRounds is the number of rounds in which columns that occur twice are drawn again.
// After that the remaining columns are drawn uniformly, because weighted drawing would
// take too long in rows that are nearly full, or in which a few columns have most of the
// weight.
const drawnRounds = 4

// columns fills the columns of row i; it is a plan.row.
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

// draw returns one column for row i.
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

// within draws one of the columns lo to hi in proportion to their weights.
func (c *nodes) within(bits uint64, lo, hi int64) int32 {
	before := uint64(0)
	if lo > 0 {
		before = c.upTo[lo-1]
	}
	at := before + scaled(bits, max(c.upTo[hi]-before, 1)) + 1
	j, _ := slices.BinarySearch(c.upTo[lo:hi+1], at)
	return int32(min(lo+int64(j), hi))
}
