package graph

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

func TestPageRankReportsEachIteration(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	defer sys.Close()
	a, err := sparse.NewCSR(3, 3, []int64{0, 2, 3, 4}, []int32{1, 2, 2, 0}, []float64{1, 1, 1, 1})
	require.NoError(t, err)
	var differences []float64
	res, err := PageRank(t.Context(), sys, a, Options{Progress: func(iteration int, difference float64) {
		differences = append(differences, difference)
		require.Len(t, differences, iteration)
	}})
	require.NoError(t, err)
	require.Len(t, differences, res.Iterations)
	require.Equal(t, res.Residual, differences[len(differences)-1])
}
