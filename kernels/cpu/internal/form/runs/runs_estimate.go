package runs

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// EstimateRuns estimates NewRuns from a sample. It fails with a *sparse.InputError if NewRuns
// would, or if the runs of the sample are so short that the form is unlikely to be faster than CSR.
func EstimateRuns[V sparse.Value](r form.Rows[V], o RunOptions[V]) (form.Estimate, error) {
	if err := noRuns(&r); err != nil {
		return form.Estimate{}, err
	}
	if _, err := estimateRuns(r.ByEntries(4), o, 1.5); err != nil { // rejects most matrices
		return form.Estimate{}, err
	}
	return estimateRuns(r.ByEntries(1), o, mostRuns[V](o.Level))
}

// mostRuns returns the largest fraction of the time of CSR that runs may take by their costs. The
// costs of float32 with AVX2 are too low: on Zen 5, all matrices with fractions from .877 to 1 took
// at least 1.3 times as long in runs as in slices.
func mostRuns[V sparse.Value](l simd.Level) float64 {
	if mem.Size[V]() == 4 && l == simd.AVX2 {
		return .87
	}
	return 1
}

// estimateRuns returns the estimate for all rows of the sample. It fails if runs would take more than
// most times as long as CSR.
func estimateRuns[V sparse.Value](sample form.Rows[V], o RunOptions[V], most float64) (form.Estimate, error) {
	b := newRunsBuilder(sample, o.Level)
	b.costs = runCostsOf(o.Level) // with AVX-512, these costs predict for float32 too which matrices suit
	if err := b.cut(); err != nil {
		return form.Estimate{}, err
	}
	end := b.end()
	if float64(b.cost) > most*float64(costCSR*end.Entry+costCSRRow*b.rows) || end.Entry < fewPerRow*b.rows {
		return form.Estimate{}, sparse.Inputf("matrix", "the runs of columns are short")
	}
	bytes := 4*(end.Group+end.Piece) + end.Mask + int(mem.Size[V]())*end.Entry
	return form.NewEstimate(float64(bytes), int64(end.Entry), int64(end.Entry)), nil
}

// costCSR and costCSRRow are the assumed costs of an entry and of a row in CSR, in the units of
// runCosts. fewPerRow is the least average number of entries of a row: if there are fewer, slices
// are faster.
const (
	costCSR, costCSRRow = 3, 15
	fewPerRow           = 4
)
