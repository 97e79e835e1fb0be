package factor

import (
	"testing"

	"github.com/stretchr/testify/require"

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
