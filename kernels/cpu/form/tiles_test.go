package form_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

func TestTilesOfTheSizeOfTheCachesMultiplyAsTheReference(t *testing.T) {
	eachLevel(t, checkLargeTiles[float64], checkLargeTiles[float32])
}

// checkLargeTiles multiplies by a matrix with several blocks of rows and with tiles dense enough
// for prefetching.
func checkLargeTiles[V sparse.Value](t *testing.T, l simd.Level) {
	f, nnz := checkLarge(t, 0, func(r form.Rows[V]) (form.Form[V], error) {
		return form.NewTiles(r, form.TileOptions[V]{Level: l})
	})
	require.Zero(t, f.Padding())
	require.Greater(t, f.Bytes(), 8*nnz)
}

// checkLarge multiplies by a form of 70,000 rows with least to least+7 entries each, anywhere in an
// x larger than the first-level cache, and one row with 20,000. It returns the form and the number
// of its entries.
func checkLarge[V sparse.Value](t *testing.T, least int, build func(form.Rows[V]) (form.Form[V], error)) (form.Form[V], int64) {
	r := rand.New(rand.NewPCG(3, 4))
	const rows, cols = 70_000, 9000
	a := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for i := range rows {
		n := least + r.IntN(8)
		if i == 40_000 {
			n = 20_000
		}
		for range n {
			a.ColIdx = append(a.ColIdx, r.Int32N(cols))
			a.Val = append(a.Val, V(r.NormFloat64()))
		}
		a.RowPtr = append(a.RowPtr, int64(len(a.ColIdx)))
	}
	x, y := make([]V, cols), make([]V, rows)
	for i := range x {
		x[i] = V(r.NormFloat64())
	}
	for i := range y {
		y[i] = V(r.NormFloat64())
	}
	want := reference.Multiply(false, -1.25, sparse.Matrix[V](a), x, .5, y)
	f := must(build(rowsOf(a)))(t)
	f.Multiply(-1.25, .5, x, y)
	require.Equal(t, -1, reference.Check(y, want), f.Name())
	return f, a.NNZ()
}

func TestTilesRefuseMatricesThatAreNearlyEmpty(t *testing.T) {
	r := form.Rows[float64]{Ptr: make([]int64, 1<<24+1), Idx: []int32{}, Val: []float64{}, Cols: math.MaxInt32}
	_, err := form.NewTiles(r, form.TileOptions[float64]{})
	require.True(t, sparse.IsInput(err), "%v", err)
	require.ErrorContains(t, err, "0 entries would be in")
}

func TestMissesAreFewInBandsAndManyInRandomRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 100_000
	band, jumps := pattern{cols: n}, pattern{cols: n}
	for i := range n - 4 {
		at := int32(i)
		band.rows = append(band.rows, []int32{at, at + 1, at + 2, at + 3})
		jumps.rows = append(jumps.rows, anyRow(r, n, 4))
	}
	one := func() float64 { return 1 }
	misses := func(p pattern) float64 {
		a := p.csr(one)
		return form.FirstCacheMisses(rowsOf(a))
	}
	require.Less(t, misses(band), .05)
	require.Greater(t, misses(jumps), .9)
	require.Zero(t, form.FirstCacheMisses(form.Rows[float64]{Ptr: []int64{0}}))
}

func TestTilesOfShortRowsLeaveMoreVectorsToRows(t *testing.T) {
	eachLevel(t, checkTilesRowsFrom[float64], checkTilesRowsFrom[float32])
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
		f := must(form.NewTiles(r, form.TileOptions[V]{Level: l}))(t)
		if l < simd.AVX2 {
			bytes = 32
		}
		require.Equal(t, bytes/int(unsafe.Sizeof(V(0)))+1, f.(form.Many[V]).RowsFrom())
	}
}

// Tiles are widened if they would have few entries, but not if most are empty.
func TestTilesGetWiderWhereEntriesAreFew(t *testing.T) {
	eachLevel(t, checkTileWidth[float64], checkTileWidth[float32])
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
		f := must(form.NewTiles(r, form.TileOptions[V]{Level: l, Rows: rows}))(t)
		var height, width int
		_, err := fmt.Sscanf(f.Name(), "tiles of %d x %d,", &height, &width)
		require.NoError(t, err)
		r.Idx[0] = n
		_, err = form.NewTiles(r, form.TileOptions[V]{Level: l, Rows: rows})
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
