package gen

import (
	"context"
	"math"
)

var rowsInfo = Info{
	Name:    "rows",
	Summary: "rows whose lengths have a given mean and standard deviation and lie in a given range, in random order, with columns near the diagonal",
	Example: "rows:n=3937,nnz=25407,sigma=3.1,min=1,max=11",
	Params: []Param{
		{"n", "1k", "rows and columns"},
		{"nnz", "10k", "exact number of entries"},
		{"sigma", "2", "approximate standard deviation of the lengths; smaller if min and max are too close"},
		{"min", "0", "smallest length; at least one row has it"},
		{"max", "", "largest length; at least one row has it; n unless given"},
		{"width", "", "largest distance of columns from the diagonal; n/32 or max unless given, whichever is larger"},
		valueParam, seedParam,
	},
}

func rows(p *params) *plan {
	n := p.dim("n", 2)
	least := p.count("min", 0, n)
	most := p.dimOr("max", max(least, 1), n)
	nnz := p.count("nnz", 0, n*n)
	width := p.dimOr("width", 1, max(n/32, most))
	sigma := p.number("sigma", 0, float64(n))
	if nnz < n*least || nnz > n*most || nnz > (n-1)*most+least || nnz < (n-1)*least+most {
		p.fail("nnz=%d does not fit %d rows of %d to %d entries, one of each length at least", nnz, n, least, most)
	}
	pl := &plan{rows: n, cols: n, entries: nnz}
	pl.setValues(p)
	s := p.seed()
	pl.lengths = func(_ context.Context, length []int64) {
		randomLengths(s.sub(lengthStream), length, nnz, least, most, sigma)
	}
	pl.row = bandColumns(s.sub(columnStream), n, min(max(2*width+1, most), n))
	return pl
}

// randomLengths draws lengths from a uniform distribution with mean nnz/n and standard
// deviation sigma, limited to [least, most]. The uniform distribution over k successive
// integers has the standard deviation sigma if k^2 = 12 sigma^2 + 1. One row gets the
// length least and one row most. The lengths of the others change by one, row by row,
// until the sum is nnz.
func randomLengths(s seed, length []int64, nnz, least, most int64, sigma float64) {
	n := int64(len(length))
	mean := float64(nnz) / float64(n)
	half := (math.Sqrt(1+float64(12*float64(sigma*sigma))) - 1) / 2 // the conversion prevents a fused multiply-add, so all machines give the same bits
	low := clamp(int64(math.Round(mean-half)), least, most)
	high := clamp(int64(math.Round(mean+half)), low, most)
	for i := range length {
		length[i] = low + int64(s.below(uint64(i), uint64(high-low+1)))
	}
	shortest := int64(s.below(uint64(n), uint64(n)))
	longest := (shortest + 1 + int64(s.below(uint64(n+1), uint64(n-1)))) % n
	length[shortest], length[longest] = least, most
	missing := nnz
	for _, k := range length {
		missing -= k
	}
	for missing != 0 {
		for i := range length {
			switch {
			case missing == 0 || int64(i) == shortest || int64(i) == longest:
			case missing > 0 && length[i] < most:
				length[i]++
				missing--
			case missing < 0 && length[i] > least:
				length[i]--
				missing++
			}
		}
	}
}

func clamp(v, lo, hi int64) int64 { return min(max(v, lo), hi) }

// bandColumns returns a plan.row that draws the columns of a row from a window of
// consecutive columns around the diagonal.
func bandColumns(s seed, cols, window int64) func(i int64, col []int32, tmp *scratch) {
	draw := randomColumns(s, window)
	return func(i int64, col []int32, tmp *scratch) {
		draw(i, col, tmp)
		first := int32(clamp(i-window/2, 0, cols-window))
		for k := range col {
			col[k] += first
		}
	}
}
