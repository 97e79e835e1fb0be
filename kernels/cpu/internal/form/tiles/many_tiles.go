package tiles

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// tileEntries is the number of entries of a tile that are multiplied at a time.
	tileEntries = 1 << 10
	// tileAhead is the number of entries by which the kernels prefetch a row of sums.
	tileAhead = 32
)

// AddTileMany multiplies the entries lo <= k < hi of a tile by x.Cols vectors at once, at most
// TileColumns:
//
//	acc[Entries[k]>>16][j] += value(k) * x[Entries[k]&0xffff][j]
//
// The rows of acc are TileColumns elements apart; their elements from x.Cols on are overwritten.
// Rows and columns are not checked; they must be in acc and x. The entries hi <= k < next are those
// of the next tile: AddTileMany prefetches the rows of nextX that they read.
func AddTileMany[V sparse.Value](l simd.Level, t *Tiles[V], lo, hi, next int, x, nextX form.MultiVector[V], acc []V, e *form.Expansion[V]) {
	prefetchEnd := min(hi, lo+next-hi) // entries up to here prefetch for one entry of the next tile each
	for ahead := hi - lo; lo < hi; {
		end := min(lo+tileEntries, hi)
		if lo < prefetchEnd {
			end = min(end, prefetchEnd)
		}
		entries := t.Entries[lo:end]
		val := e.Full(simd.Generic, &t.Values, lo, len(entries), 0)
		if l >= simd.AVX2 {
			var later []uint32
			if lo < prefetchEnd {
				later = t.Entries[lo+ahead : end+ahead]
			}
			addTileMany(l, entries, min(tileAhead, len(t.Entries)-end), later, val, x, nextX, acc)
			lo = end
			continue
		}
		for k, at := range entries {
			sum := acc[int(at>>16)*TileColumns[V](l, x.Cols):]
			for j, v := range x.Val[int(at&0xffff)*x.Stride:][:x.Cols] {
				sum[j] += val[k] * v
			}
		}
		lo = end
	}
}

// TileColumns returns the number of elements of a row of sums for cols columns: those of a
// register, or of half or a quarter of one. It may be more than cols.
func TileColumns[V sparse.Value](l simd.Level, cols int) int {
	bytes, size := simd.RegisterBytes(l), int(unsafe.Sizeof(*new(V)))
	for bytes > form.ShortRegister && cols*size <= bytes/2 {
		bytes /= 2
	}
	return bytes / size
}

// manyTileTable has kernels by the bytes of a row of sums: 16, 32, 64.
type manyTileTable[V sparse.Value] [3]func(a manyTileArgs[V])

// addTileMany is AddTileMany for entries with these values; more entries after them can be read. It
// prefetches the rows of nextX that the entries of later read.
func addTileMany[V sparse.Value](l simd.Level, entries []uint32, more int, later []uint32, val []V, x, nextX form.MultiVector[V], acc []V) {
	lda := TileColumns[V](l, x.Cols) * int(unsafe.Sizeof(*new(V)))
	kernel := simd.ForType[*manyTileTable[V]](manyTileTables)[lda/(2*form.ShortRegister)]
	kernel(manyTileArgs[V]{
		n: len(entries), more: more, entries: unsafe.SliceData(entries), val: unsafe.SliceData(val),
		x: unsafe.SliceData(x.Val), ldx: x.RowBytes(), acc: unsafe.SliceData(acc), lda: lda, last: x.Cols,
		next: unsafe.SliceData(later), nextX: unsafe.SliceData(nextX.Val),
	})
}

// manyTileTables has no kernels on processors without assembly.
var manyTileTables simd.Kernels
