package amg_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
)

// CG with the polynomial takes far fewer iterations than with Jacobi, on the host and on simulated GPUs. An unsymmetric
// matrix is refused.
func TestChebyshevSavesIterations(t *testing.T) {
	a := poisson(60, 60, 1)
	jacobi, err := solver.Jacobi(a)
	require.NoError(t, err)
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys := system(t, msrep.Config{Devices: devices})
		plan, err := msrep.NewPlan(t.Context(), sys, a, msrep.PlanOptions{})
		require.NoError(t, err)
		m, err := amg.NewChebyshev(t.Context(), sys, a, amg.Options{})
		require.NoError(t, err)
		require.Len(t, m.Levels(), 1)
		iterations := func(m solver.Preconditioner) int {
			res, err := solver.CG(t.Context(), plan, random(a.Rows), make([]float64, a.Rows), solver.Options{Precond: m})
			require.NoError(t, err)
			return res.Iterations
		}
		require.Less(t, 5*iterations(m), iterations(jacobi), devices)
		require.NoError(t, m.Close())
		require.NoError(t, plan.Close())

		u := *a
		u.Val = slices.Clone(a.Val)
		u.Val[slices.Index(a.ColIdx[1:], 1)+1] *= 2
		_, err = amg.NewChebyshev(t.Context(), sys, &u, amg.Options{})
		require.ErrorContains(t, err, "matrix: is not symmetric")
	}
	_, err = amg.NewChebyshev(t.Context(), nil, a, amg.Options{})
	require.ErrorContains(t, err, "system: is nil")
}
