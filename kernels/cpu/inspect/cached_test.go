package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu/form"
)

func TestAFormRepaysWhereItSparesMoreThanMakingItTakes(t *testing.T) {
	slices, runs := Cached{.6, 10}, Cached{.95, 20}
	require.True(t, slices.Repays(100, 1, 6))
	require.False(t, slices.Repays(100, .5, 6), "there is a faster form")
	require.False(t, slices.Repays(100, 1, 18), "too much is spent")
	require.False(t, slices.Repays(FewestCached-20, 1, 0))
	require.False(t, runs.Repays(100, 1, 6))
	require.True(t, runs.Repays(1000, 1, 6), "it may be faster than expected")
}

func TestShortRowsAndLongRunsAreExpectedToBeFast(t *testing.T) {
	piece := func(rows int, runs float64) []Look {
		return []Look{{entries: true, plain: true, rows: rows, nnz: 60_000, runs: &form.Estimate{EntryBytes: 8 + runs}}}
	}
	cached := func(p []Look) (runs, slices Cached) {
		c := Candidates[float64](p)
		require.Len(t, c, 2)
		return c[0].Cached, c[1].Cached
	}
	long, short := cached(piece(10_000, .25))
	scattered, full := cached(piece(600, 1.2))
	require.Less(t, long.Product, scattered.Product)
	require.Less(t, long.Build, scattered.Build)
	require.Less(t, short.Product, full.Product)
	require.Less(t, full.Product, 1.)
	dense, empty := cachedDiagonals(.1), cachedDiagonals(3)
	require.Less(t, dense.Product, empty.Product)
	require.Less(t, dense.Build, empty.Build)
}
