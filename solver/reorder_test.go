package solver

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// A plan with an order of its own: the right-hand side, the guess, the preconditioner and the solution are in the order of
// the matrix.
func TestSolversOnReorderedPlansUseTheOrderOfTheMatrix(t *testing.T) {
	grid := laplacian(t, "stencil:n=14,points=5")
	p := make([]int32, grid.Rows)
	for i, k := range rand.New(rand.NewPCG(1, 1)).Perm(grid.Rows) {
		p[i] = int32(k)
	}
	a, err := sparse.Permute(grid, p, p)
	require.NoError(t, err)
	for i := range a.Rows { // a scaling that keeps it symmetric, so that Jacobi has something to do
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] *= (1 + float64(i%5)) * (1 + float64(a.ColIdx[k]%5))
		}
	}
	sys := openAs(t, msrep.Config{Devices: "sim:3"})
	plan := planOf(t, sys, sparse.Matrix[float64](a), msrep.PlanOptions{Reorder: true})
	require.NotNil(t, plan.Reordering())
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	blocks, err := BlockJacobi(a, 6)
	require.NoError(t, err)
	f, err := factor.NewILU0(t.Context(), a, factor.ILU0Options{Unmatched: true})
	require.NoError(t, err)
	triangles, err := factor.NewTriangles(t.Context(), sys, f.Lower(), f.Upper(), f.Rows(), f.Cols())
	require.NoError(t, err)
	b := sines(a.Rows)
	for name, m := range map[string]Preconditioner{"none": nil, "jacobi": jacobi, "blocks": blocks, "triangles": triangles} {
		iterations := 0
		for _, on := range []*msrep.Plan[float64]{planOn(t, "cpu:1", a), plan} {
			x := make([]float64, a.Rows)
			x[3] = 2 // a guess
			res, err := CG(t.Context(), on, b, x, Options{Tol: 1e-10, Precond: m})
			require.NoError(t, err, name)
			require.Less(t, trueResidual(t, a, b, x), 1e-9, name)
			if iterations == 0 {
				iterations = res.Iterations
			}
			require.InDelta(t, iterations, res.Iterations, 2, name)
		}
	}
}
