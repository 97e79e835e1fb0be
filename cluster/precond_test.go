package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestPreconditionersNameRowsOfTheWholeMatrix(t *testing.T) {
	a, err := sparse.NewCSR(4, 4, []int64{0, 1, 2, 2, 2}, []int32{0, 1}, []float64{1, 1})
	require.NoError(t, err)
	each(t, 2, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 2)
		if err != nil {
			return err
		}
		_, byElement := Jacobi(m)
		_, byBlock := BlockJacobi(m, 2)
		if m.First() == 0 {
			require.NoError(t, byElement)
			require.NoError(t, byBlock)
			_, err = BlockJacobi(m, 0)
			require.ErrorContains(t, err, "block size")
			return nil
		}
		require.True(t, sparse.IsInput(byElement))
		require.ErrorContains(t, byElement, "row 2 is 0")
		require.True(t, sparse.IsInput(byBlock))
		require.ErrorContains(t, byBlock, "rows 2 to 3 is singular")
		_, err = BlockJacobi(m, 3)
		require.ErrorContains(t, err, "must be a multiple")
		return nil
	})
	_, err = Jacobi(nil)
	require.ErrorIs(t, err, errNoPart)
	_, err = Jacobi(&Matrix[float64]{Rows: 2, Cols: 3, Part: a})
	require.ErrorContains(t, err, "square")
}

func TestSchwarzFactorsTheBlockOfEachRank(t *testing.T) {
	a, _, err := gen.Generate("stencil:n=30,points=5")
	require.NoError(t, err)
	each(t, 3, func(sys *System) error {
		m, err := Slice(sys.Comm(), a, 1)
		if err != nil {
			return err
		}
		var block *sparse.CSR[float64]
		schwarz, err := Schwarz(m, func(b *sparse.CSR[float64]) (solver.Preconditioner, error) {
			block = b
			return factor.NewLU(ctx, b, factor.LUOptions{})
		})
		if err != nil {
			return err
		}
		first, want := m.First(), 0
		for i := range block.Rows { // all entries of these rows in columns of this rank
			for k := a.RowPtr[first+i]; k < a.RowPtr[first+i+1]; k++ {
				if j := int(a.ColIdx[k]) - first; j >= 0 && j < block.Rows {
					want++
				}
			}
		}
		require.Equal(t, want, len(block.Val))
		jacobi, err := Jacobi(m)
		if err != nil {
			return err
		}
		p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{})
		if err != nil {
			return err
		}
		defer p.Close()
		b := randomVector[float64](a.Rows, 9)[first : first+block.Rows]
		var iterations []int
		for _, precond := range []solver.Preconditioner{schwarz, jacobi} {
			res, err := solver.GMRES(ctx, p, b, make([]float64, len(b)), solver.Options{Precond: precond, Restart: 100})
			if err != nil {
				return err
			}
			iterations = append(iterations, res.Iterations)
		}
		require.Less(t, 2*iterations[0], iterations[1], "blocks of LU and Jacobi")
		return nil
	})
}
