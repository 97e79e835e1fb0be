package gen

var bandedInfo = Info{
	Name:    "banded",
	Summary: "a full diagonal, and other entries near it with a given density; symmetric",
	Example: "banded:n=1M,band=8,density=0.5",
	Params: []Param{
		{"n", "1k", "rows and columns"},
		{"band", "5", "largest distance of an entry from the diagonal: |i-j| <= band"},
		{"density", "1", "probability of each entry off the diagonal, 0 to 1"},
		valueParam, seedParam,
	},
}

func banded(p *params) *plan {
	n := p.dim("n", 0)
	band := min(p.dim("band", 0), max(n-1, 0))
	density := p.number("density", 0, 1)
	pl := &plan{rows: n, cols: n, symmetric: true}
	pl.entries = n + int64(float64(n*2*band)*density) // n, band < 2^31
	pl.setValues(p)

	s, limit := p.seed().sub(columnStream), uint64(0)
	if density < 1 {
		limit = threshold(density)
	}
	present := func(i, j int64) bool {
		if i < j {
			i, j = j, i
		}
		return i == j || density == 1 || s.at(uint64(i*n+j)) < limit
	}
	span := func(i int64) (lo, hi int64) { return max(i-band, 0), min(i+band+1, n) }
	pl.lengths = perRow(func(i int64) (k int64) {
		lo, hi := span(i)
		if density == 1 {
			return hi - lo
		}
		for j := lo; j < hi; j++ {
			if present(i, j) {
				k++
			}
		}
		return k
	})
	pl.row = func(i int64, col []int32, _ *scratch) {
		k := 0
		lo, hi := span(i)
		for j := lo; j < hi; j++ {
			if present(i, j) {
				col[k] = int32(j)
				k++
			}
		}
	}
	return pl
}
