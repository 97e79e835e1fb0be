package factor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// Kershaw, The incomplete Cholesky-conjugate gradient method, J. Comput. Phys. 26 (1978) 43-65: a positive definite
// matrix whose incomplete factor has a negative pivot.
func TestIC0SaysItsShift(t *testing.T) {
	a, err := sparse.FromTriples(4, 4,
		[]int32{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}, []int32{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
		[]float64{3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3})
	require.NoError(t, err)
	f, err := factor.NewIC0(t.Context(), a, factor.IC0Options{})
	require.NoError(t, err)
	require.Equal(t, 0.25, f.Info().Shift)
	require.Equal(t, "ic0", f.Info().Kind)
	z := make([]float64, 4)
	for i := range z {
		r := make([]float64, 4)
		r[i] = 1
		require.NoError(t, f.Apply(r, z))
		require.Positive(t, z[i])
	}

	f, err = factor.NewIC0(t.Context(), laplacian(10), factor.IC0Options{})
	require.NoError(t, err)
	require.Zero(t, f.Info().Shift)
}

func TestIC0OfAnIndefiniteMatrix(t *testing.T) {
	a := laplacian(4)
	reversed := func(a *sparse.CSR[float64]) ([]int32, error) {
		p := make([]int32, a.Rows)
		for i := range p {
			p[i] = int32(a.Rows - 1 - i)
		}
		return p, nil
	}
	for k := a.RowPtr[6]; k < a.RowPtr[7]; k++ {
		if a.ColIdx[k] == 6 {
			a.Val[k] = -4
		}
	}
	for _, by := range []factor.Order{nil, reversed} {
		_, err := factor.NewIC0(t.Context(), a, factor.IC0Options{Order: by})
		require.ErrorIs(t, err, factor.ErrNotPositiveDefinite)
		require.True(t, sparse.IsInput(err))
		require.ErrorContains(t, err, "row 6")
	}
}
