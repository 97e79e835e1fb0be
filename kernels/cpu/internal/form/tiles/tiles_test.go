package tiles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

func TestTilesOfTheSizeOfTheCachesMultiplyAsTheReference(t *testing.T) {
	formtest.EachLevel(t, checkLargeTiles[float64], checkLargeTiles[float32])
}

// checkLargeTiles multiplies by a matrix with several blocks of rows and with tiles dense enough
// for prefetching.
func checkLargeTiles[V sparse.Value](t *testing.T, l simd.Level) {
	f, nnz := formtest.CheckLarge(t, 0, func(r form.Rows[V]) (form.Form[V], error) {
		return tiles.NewTiles(r, tiles.TileOptions[V]{Level: l})
	})
	require.Zero(t, f.Padding())
	require.Greater(t, f.Bytes(), 8*nnz)
}

func TestTilesRefuseMatricesThatAreNearlyEmpty(t *testing.T) {
	r := form.Rows[float64]{Ptr: make([]int64, 1<<24+1), Idx: []int32{}, Val: []float64{}, Cols: math.MaxInt32}
	_, err := tiles.NewTiles(r, tiles.TileOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "0 entries would be in")
}

func TestMissesAreFewInBandsAndManyInRandomRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 100_000
	band, jumps := formtest.Pattern{Cols: n}, formtest.Pattern{Cols: n}
	for i := range n - 4 {
		at := int32(i)
		band.Rows = append(band.Rows, []int32{at, at + 1, at + 2, at + 3})
		jumps.Rows = append(jumps.Rows, formtest.AnyRow(r, n, 4))
	}
	one := func() float64 { return 1 }
	misses := func(p formtest.Pattern) float64 {
		a := p.CSR(one)
		return form.FirstCacheMisses(formtest.RowsOf(a))
	}
	require.Less(t, misses(band), .05)
	require.Greater(t, misses(jumps), .9)
	require.Zero(t, form.FirstCacheMisses(form.Rows[float64]{Ptr: []int64{0}}))
}

func TestTilesOfShortRowsLeaveMoreVectorsToRows(t *testing.T) {
	formtest.EachLevel(t, checkTilesRowsFrom[float64], checkTilesRowsFrom[float32])
}

func checkTilesRowsFrom[V sparse.Value](t *testing.T, l simd.Level) {
	for each, bytes := range map[int]int{3: 16, 4: 32} { // entries of a row
		r := form.Rows[V]{Ptr: []int64{0}, Cols: 100}
		for range 50 {
			for c := range each {
				r.Idx, r.Val = append(r.Idx, int32(20*c)), append(r.Val, 1)
			}
			r.Ptr = append(r.Ptr, int64(len(r.Idx)))
		}
		f := formtest.Must(tiles.NewTiles(r, tiles.TileOptions[V]{Level: l}))(t)
		if l < simd.AVX2 {
			bytes = 32
		}
		require.Equal(t, bytes/int(unsafe.Sizeof(V(0)))+1, f.(form.Many[V]).RowsFrom())
	}
}

// Tiles are widened if they would have few entries, but not if most are empty.
func TestTilesGetWiderWhereEntriesAreFew(t *testing.T) {
	formtest.EachLevel(t, checkTileWidth[float64], checkTileWidth[float32])
}

func checkTileWidth[V sparse.Value](t *testing.T, l simd.Level) {
	const n, rows = 200_000, 500
	columns := func(at func(row, k int) int) int {
		r := form.Rows[V]{Ptr: []int64{0}, Cols: n}
		for row := range n {
			for k := range 3 {
				r.Idx, r.Val = append(r.Idx, int32(at(row, k))), append(r.Val, 1)
			}
			r.Ptr = append(r.Ptr, int64(len(r.Idx)))
		}
		f := formtest.Must(tiles.NewTiles(r, tiles.TileOptions[V]{Level: l, Rows: rows}))(t)
		var height, width int
		_, err := fmt.Sscanf(f.Name(), "tiles of %d x %d,", &height, &width)
		require.NoError(t, err)
		r.Idx[0] = n
		_, err = tiles.NewTiles(r, tiles.TileOptions[V]{Level: l, Rows: rows})
		require.True(t, sparse.IsInput(err), "%v", err)
		return width
	}
	near := columns(func(row, k int) int { return min(row+k, n-1) })
	rng := rand.New(rand.NewPCG(7, 8))
	far := columns(func(int, int) int { return rng.IntN(n) })
	require.LessOrEqual(t, n/rows*(n/near)*32, 3*n)
	require.Less(t, near, far)
	require.GreaterOrEqual(t, 3*rows/(n/far), 128)
}
