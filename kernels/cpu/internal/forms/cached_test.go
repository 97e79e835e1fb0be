package forms

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

func TestAFormRepaysIfItSavesMoreThanItCosts(t *testing.T) {
	slices, slow := Cached{Product: .6, Build: 10}, Cached{Product: .95, Build: 20}
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
		c := Candidates[float64]([]Look{{Plain: true, Rows: rows, NNZ: 60_000}})
		require.Len(t, c, 1)
		return c[0].Cached
	}
	short, full := cached(10_000), cached(600)
	require.Less(t, short.Product, full.Product)
	require.Less(t, full.Product, 1.)
}

func TestNoFormIsExpectedToTakeNothingOrMoreThanCSR(t *testing.T) {
	seen := map[kernels.Form]int{}
	for _, p := range []Look{
		{Estimates: bytes("blocks", 9., "values in 57 bits", 7.25)},
		{Estimates: bytes("diagonals", .1)}, // the same value along each
		{Misses: .9, Wide: true},
	} {
		p.Plain, p.Rows, p.NNZ = true, 10, 3000
		for _, c := range Candidates[float64]([]Look{p}) {
			require.Greater(t, c.Cached.Product, .1, c.Form)
			require.Less(t, c.Cached.Product, 1., c.Form)
			require.GreaterOrEqual(t, c.Cached.Build, 7., c.Form)
			seen[c.Form]++
		}
	}
	require.Len(t, seen, 4)
	require.Equal(t, 2, seen[FormBlocks], "with values in 57 bits, and without")
}

func TestExpectedCostsUseTheRowsOfAllPieces(t *testing.T) {
	piece := Look{Plain: true, Rows: 100, NNZ: 200, Estimates: bytes("diagonals", 8.5)}
	other := piece
	other.Rows, other.NNZ = 50, 2200
	c := Candidates[float64]([]Look{piece, other})
	require.InDelta(t, .15+.06*.5+.006*16, c[0].Cached.Product, 1e-9, "2400 entries in 150 rows")
	require.InDelta(t, 7+6*.5, c[0].Cached.Build, 1e-9)
	require.Equal(t, Cached{Product: .5 + .008*16, Build: 10}, c[1].Cached)
}

func TestSlicesOfLongRowsAreExpectedToBeFastInPowerLawGraphs(t *testing.T) {
	piece := Look{Plain: true, Rows: 100, NNZ: 4000}
	graph := piece
	graph.Shares = map[string]float64{"power law": 1}
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
