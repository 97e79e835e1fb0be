package order

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse"
)

// reordered returns the bandwidth of a after RCM.
func reordered(t require.TestingT, a *sparse.CSR[float64]) int64 {
	p, err := RCM(a)
	require.NoError(t, err)
	requirePermutation(t, p, a.Rows)
	b, err := sparse.Permute(a, p, p)
	require.NoError(t, err)
	return stats.Of(b).Bandwidth
}

func TestRCMReturnsPermutations(t *testing.T) {
	for _, spec := range shapes {
		reordered(t, generate(t, spec))
	}
	rapid.Check(t, func(t *rapid.T) { reordered(t, drawMatrix(t, 60, true)) })
}

func TestRCMFindsThePathInAShuffledLine(t *testing.T) {
	a := generate(t, "banded:n=100,band=1,density=1")
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Permutation(sequence(a.Rows)).Draw(t, "p")
		b, err := sparse.Permute(a, p, p)
		require.NoError(t, err)
		require.EqualValues(t, 1, reordered(t, b))
	})
}

func TestRCMOrdersComponentsOneAfterTheOther(t *testing.T) {
	// Two triangles, {0, 2, 4} and {1, 3, 5}, and node 6 alone.
	a := matrix(
		"1.1.1..",
		".1.1.1.",
		"1.1.1..",
		".1.1.1.",
		"1.1.1..",
		".1.1.1.",
		"......1",
	)
	p, err := RCM(a)
	require.NoError(t, err)
	require.EqualValues(t, 6, p[0])
	for _, part := range [][]int32{p[1:4], p[4:7]} {
		slices.Sort(part)
	}
	require.Equal(t, []int32{6, 1, 3, 5, 0, 2, 4}, p)
}
