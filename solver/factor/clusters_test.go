package factor_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/order"
)

// saddlePoint returns the matrix [H B'; B 0] with the H of a grid and constraints with two entries each.
func saddlePoint(r *rand.Rand, m, constraints int) *sparse.CSR[float64] {
	h := laplacian(m)
	n := h.Rows
	rows, cols, vals := []int32{}, []int32{}, []float64{}
	add := func(i, j int32, v float64) { rows, cols, vals = append(rows, i), append(cols, j), append(vals, v) }
	for i := range int32(n) {
		for k := h.RowPtr[i]; k < h.RowPtr[i+1]; k++ {
			add(i, h.ColIdx[k], h.Val[k])
		}
	}
	for c, j := range r.Perm(n / 2)[:constraints] {
		for _, k := range []int{2 * j, 2*j + 1} {
			v := r.NormFloat64()
			add(int32(n+c), int32(k), v)
			add(int32(k), int32(n+c), v)
		}
	}
	a, err := sparse.FromTriples(n+constraints, n+constraints, rows, cols, vals)
	if err != nil {
		panic(err)
	}
	return a
}

// A symmetric matrix with zeros on its diagonal keeps its pattern: columns that are matched with each other are eliminated
// together. With an order of the caller, a matching moves rows.
func TestMatchedColumnsAreEliminatedTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, m := range []int{6, 20, 50} {
		together(t, saddlePoint(r, m, m*m/3))
	}
	t.Run("real", func(t *testing.T) {
		kept, moved := together(t, systemOf(t, "kkt-CRESC132"))
		require.Less(t, kept, moved*3/5)
	})
}

// together solves with and without columns that stay together, and returns the entries of both factors.
func together(t *testing.T, a *sparse.CSR[float64]) (kept, moved int64) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	count := func(o factor.Order) int64 {
		f, err := factor.NewLU(t.Context(), a, factor.LUOptions{Kind: factor.Multifrontal, Order: o})
		require.NoError(t, err)
		require.Zero(t, f.Info().Replaced)
		b, x := randomVector(r, a.Rows), make([]float64, a.Rows)
		require.NoError(t, f.Apply(b, x))
		require.LessOrEqual(t, backwardError(a, false, x, b), 1e-13)
		require.NoError(t, f.ApplyTransposed(b, x))
		require.LessOrEqual(t, backwardError(a, true, x, b), 1e-13)
		return f.Info().NNZ
	}
	return count(nil), count(order.AMD[float64])
}
