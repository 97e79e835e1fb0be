package tiles

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// firstCache is the first cache of a processor that does not report its size.
const firstCache = 32 << 10

// manyTiles is the number of tiles that is allowed however few entries they have.
const manyTiles = 1 << 16

// TileRows and TileCols are the greatest numbers of rows and columns of a tile.
const (
	TileRows = 1 << 16
	TileCols = 1 << 16
)

// tileSize returns the rows and columns of a tile. Blocks of rows have
// about equal heights of at most mostRows. The width is cols. If mostRows or cols is 0, the cache
// sizes determine it.
func tileSize[V sparse.Value](rows, mostRows, cols int) (height, width int, err error) {
	if mostRows < 0 || mostRows > TileRows || cols < 0 || cols > TileCols || cols&(cols-1) != 0 {
		return 0, 0, sparse.Inputf("tile", "%d rows and %d columns: use at most %d rows, and a power of two up to %d of columns",
			mostRows, cols, TileRows, TileCols)
	}
	if mostRows == 0 {
		mostRows = min(halfCache[V](cpuid.CPU.Cache.L2, form.SecondCache), TileRows)
	}
	if cols == 0 {
		cols = min(halfCache[V](cpuid.CPU.Cache.L1D, firstCache), TileCols)
	}
	blocks := max(1, (rows+mostRows-1)/mostRows)
	return max(1, (rows+blocks-1)/blocks), cols, nil
}

// halfCache returns the number of elements that half of a cache holds, rounded down to a power of
// two.
func halfCache[V sparse.Value](cache, unknown int) int {
	if cache <= 0 {
		cache = unknown
	}
	return 1 << (bits.Len(uint(cache/2/int(mem.Size[V]()))) - 1)
}

// finishRows computes y = alpha*sums + beta*y for the first rows rows of y. The sums of a row begin
// width elements after those of the row before. stream writes y past the caches; it requires
// y.StreamsWhole.
func finishRows[V sparse.Value](l simd.Level, alpha, beta V, sums []V, width, rows int, y form.MultiVector[V], stream bool) {
	n := y.Cols
	if y.Stride == n { // rows are contiguous
		if n < width {
			for i := range rows {
				copy(sums[i*n:][:n], sums[i*width:])
			}
		}
		form.StoreRows(l, alpha, beta, sums, y.Val[:rows*n], stream)
		return
	}
	for i := range rows {
		form.StoreRows(l, alpha, beta, sums[i*width:], y.Val[i*y.Stride:][:n], false)
	}
}

// allocAligned allocates n elements on the Go heap, aligned to a cache line.
func allocAligned[V sparse.Value](n int) []V {
	s, _ := mem.Slice[V](mem.Aligned(int64(n)*mem.Size[V]()), int64(n))
	return s
}
