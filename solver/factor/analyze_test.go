package factor

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/order"
)

func TestDissectionIsTakenWhereItSavesWork(t *testing.T) {
	defer func(before float64) { dissectionWork = before }(dissectionWork)
	dissectionWork = 1e4
	a, _, err := gen.Generate("stencil:dims=3,n=28")
	require.NoError(t, err)
	f, err := NewCholesky(t.Context(), a, CholeskyOptions{})
	require.NoError(t, err)
	amd, err := NewCholesky(t.Context(), a, CholeskyOptions{Order: order.AMD[float64]})
	require.NoError(t, err)
	require.Less(t, f.Info().Work, amd.Info().Work)
	dissected, err := NewCholesky(t.Context(), a, CholeskyOptions{Order: order.Dissection[float64]})
	require.NoError(t, err)
	require.Equal(t, dissected.Info(), f.Info())

	dissectionWork = 0
	line, _, err := gen.Generate("stencil:n=30")
	require.NoError(t, err)
	f, err = NewCholesky(t.Context(), line, CholeskyOptions{})
	require.NoError(t, err)
	amd, err = NewCholesky(t.Context(), line, CholeskyOptions{Order: order.AMD[float64]})
	require.NoError(t, err)
	require.LessOrEqual(t, f.Info().Work, amd.Info().Work)
}

func TestAcceptSeesThePredictionAndCanRefuse(t *testing.T) {
	no := errors.New("no")
	grid, _, err := gen.Generate("stencil:n=20,points=5")
	require.NoError(t, err)
	nearlyTriangular := &sparse.CSR[float64]{
		Rows: 3, Cols: 3, RowPtr: []int64{0, 2, 3, 4}, ColIdx: []int32{0, 2, 1, 2}, Val: []float64{2, 1, 3, 4},
	}
	for name, c := range map[string]struct {
		a    *sparse.CSR[float64]
		make func(a *sparse.CSR[float64], accept func(Info) error) (interface{ Info() Info }, error)
	}{
		"cholesky": {grid, func(a *sparse.CSR[float64], accept func(Info) error) (interface{ Info() Info }, error) {
			return NewCholesky(t.Context(), a, CholeskyOptions{Accept: accept})
		}},
		"fronts": {grid, func(a *sparse.CSR[float64], accept func(Info) error) (interface{ Info() Info }, error) {
			return NewLU(t.Context(), a, LUOptions{Accept: accept})
		}},
		"columns": {nearlyTriangular, func(a *sparse.CSR[float64], accept func(Info) error) (interface{ Info() Info }, error) {
			return NewLU(t.Context(), a, LUOptions{Accept: accept})
		}},
	} {
		var seen []Info
		f, err := c.make(c.a, func(i Info) error { seen = append(seen, i); return nil })
		require.NoError(t, err, name)
		require.Len(t, seen, 1, name)
		got := f.Info()
		got.Growth, got.Replaced = 0, 0 // known afterwards
		require.Equal(t, got, seen[0], name)
		require.Positive(t, seen[0].NNZ, name)

		_, err = c.make(c.a, func(Info) error { return no })
		require.ErrorIs(t, err, no, name)
	}
}
