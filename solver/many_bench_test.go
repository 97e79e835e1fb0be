package solver

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkCGMany compares 50 iterations of several systems at once with 50 iterations of each system, for 200 000
// unknowns on one CPU device, in CSR.
func BenchmarkCGMany(b *testing.B) {
	const iterations = 50
	for _, spec := range []string{"stencil:dims=3,n=58,points=27", "stencil:n=447,points=5"} {
		a, _, err := gen.Generate(spec)
		require.NoError(b, err)
		sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
		require.NoError(b, err)
		plan, err := msrep.NewPlan(b.Context(), sys, sparse.Matrix[float64](a), msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}})
		require.NoError(b, err)
		opt := Options{MaxIter: iterations, Tol: 1e-14}
		for _, count := range []int{2, 4, 8, 16} {
			rhs := msrep.MultiVectorByRow(sines(a.Rows*count), count)
			b.Run(fmt.Sprintf("%s/%d/together", spec, count), func(b *testing.B) {
				for b.Loop() {
					_, err := CGMany(b.Context(), plan, rhs, msrep.MultiVectorByRow(make([]float64, a.Rows*count), count), opt)
					require.ErrorIs(b, err, ErrNotConverged)
				}
			})
			b.Run(fmt.Sprintf("%s/%d/in turn", spec, count), func(b *testing.B) {
				one := make([]float64, a.Rows)
				for b.Loop() {
					for j := range count {
						rhs.Get(j, one)
						_, err := CG(b.Context(), plan, one, make([]float64, a.Rows), opt)
						require.ErrorIs(b, err, ErrNotConverged)
					}
				}
			})
		}
		require.NoError(b, sys.Close())
	}
}
