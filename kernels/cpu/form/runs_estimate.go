package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// EstimateRuns is the estimate for NewRuns. It fails with a *sparse.InputError where NewRuns
// would, and where runs are so short, as far as the sample shows, that the form is not
// likely to be faster than CSR.
func EstimateRuns[V sparse.Value](r Rows[V], o RunOptions[V]) (Estimate, error) {
	if err := r.noRuns(); err != nil {
		return Estimate{}, err
	}
	if _, err := estimateRuns(r.heads(4), o, 1.5); err != nil { // most rows have none
		return Estimate{}, err
	}
	return estimateRuns(r.heads(1), o, mostRuns[V](o.Level))
}

// mostRuns is the share of the time of CSR that runs may take by their costs. Those of float32 with AVX2 are
// too low: on a Zen 5 matrices for which it is .877 to 1 all took longer in runs than in slices, by 1.3 times
// and more.
func mostRuns[V sparse.Value](l simd.Level) float64 {
	if mem.Size[V]() == 4 && l == simd.AVX2 {
		return .87
	}
	return 1
}

// estimateRuns is the estimate of all of these rows, which may take so many times as long as in CSR.
func estimateRuns[V sparse.Value](heads Rows[V], o RunOptions[V], most float64) (Estimate, error) {
	b := newRunsBuilder(heads, o.Level)
	b.costs = runCostsOf(o.Level) // with AVX-512 those say which float32 matrices suit, too
	if err := b.cut(); err != nil {
		return Estimate{}, err
	}
	end := b.end()
	if float64(b.cost) > most*float64(costCSR*end.Entry+costCSRRow*b.rows) || end.Entry < fewPerRow*b.rows {
		return Estimate{}, sparse.Inputf("matrix", "the runs of columns are short")
	}
	bytes := 4*(end.Group+end.Piece) + end.Mask + int(mem.Size[V]())*end.Entry
	return estimate(float64(bytes), int64(end.Entry), int64(end.Entry)), nil
}

// What EstimateRuns takes for the time of an entry and a row in CSR, in the units of
// runsBuilder, and how many entries a row must have on average: with fewer, slices are
// faster.
const (
	costCSR, costCSRRow = 3, 15
	fewPerRow           = 4
)
