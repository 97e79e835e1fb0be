package forms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
)

func TestAFormRepaysIfItSavesMoreThanItCosts(t *testing.T) {
	slices, slow := Cached{.6, 10}, Cached{.95, 20}
	require.True(t, slices.Repays(100, 1, 6))
	require.False(t, slices.Repays(100, .5, 6), "there is a faster form")
	require.False(t, slices.Repays(100, 1, 18), "too much is spent")
	require.False(t, slices.Repays(FewestCached-20, 1, 0))
	require.False(t, slow.Repays(100, 1, 6))
	require.True(t, slow.Repays(1000, 1, 6), "it may be faster than expected")
	// Trying it takes 23 products. 1.25 times as many are saved if each product saves .05 + .1.
	require.False(t, slow.Repays(191, 1, 0))
	require.True(t, slow.Repays(192, 1, 0))
}

func TestShortRowsAreExpectedToBeFast(t *testing.T) {
	cached := func(rows int) Cached {
		c := Candidates[float64]([]Look{{entries: true, plain: true, rows: rows, nnz: 60_000}})
		require.Len(t, c, 1)
		return c[0].Cached
	}
	short, full := cached(10_000), cached(600)
	require.Less(t, short.Product, full.Product)
	require.Less(t, full.Product, 1.)
	dense, empty := cachedDiagonals(.1, 5), cachedDiagonals(3, 5)
	require.Less(t, dense.Product, empty.Product)
	require.Less(t, dense.Build, empty.Build)
	require.Less(t, empty.Product, cachedDiagonals(3, 40).Product)
}

func TestNoFormIsExpectedToTakeNothingOrMoreThanCSR(t *testing.T) {
	seen := map[kernels.Form]int{}
	for _, p := range []Look{
		{blocks: &form.Estimate{EntryBytes: 9}, value: 7.25},
		{diagonals: &form.Estimate{EntryBytes: .1}}, // the same value along each
		{misses: .9, wide: true},
	} {
		p.entries, p.plain, p.rows, p.nnz = true, true, 10, 3000
		for _, c := range Candidates[float64]([]Look{p}) {
			require.Greater(t, c.Cached.Product, .1, c.Form)
			require.Less(t, c.Cached.Product, 1., c.Form)
			require.GreaterOrEqual(t, c.Cached.Build, 7., c.Form)
			seen[c.Form]++
		}
	}
	require.Len(t, seen, 4)
	require.Equal(t, 2, seen[FormBlocks], "with values in 57 bits, and without")
	require.Less(t, cachedSlices(4, 5, 1).Product, cachedSlices(8, 5, 1).Product)
}

func TestExpectedCostsUseTheRowsOfAllPieces(t *testing.T) {
	piece := Look{entries: true, plain: true, rows: 100, nnz: 200, diagonals: &form.Estimate{EntryBytes: 8.5}}
	other := piece
	other.rows, other.nnz = 50, 2200
	c := Candidates[float64]([]Look{piece, other})
	require.Equal(t, cachedDiagonals(.5, 16), c[0].Cached)
	require.Equal(t, cachedSlices(8, 16, longRowSlices), c[1].Cached, "2400 entries in 150 rows")
}

func TestSlicesOfLongRowsAreExpectedToBeFastInPowerLawGraphs(t *testing.T) {
	piece := Look{entries: true, plain: true, rows: 100, nnz: 4000}
	graph := piece
	graph.powerLaw = true
	slices := func(pieces ...Look) Candidate[float64] {
		all := Candidates[float64](pieces)
		c := all[len(all)-1]
		require.Equal(t, FormSlices, c.Form)
		return c
	}
	require.False(t, slices(piece).Cached.Repays(1000, .57, 0))
	require.True(t, slices(graph).Cached.Repays(1000, .57, 0))
	require.False(t, slices(graph).Cached.Repays(1000, .45, 0))
	require.True(t, slices(graph).Large, "they have the budget of tiles")
	require.False(t, slices(graph, piece).Large)
}
