package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

const (
	// tileEntries is how many entries of a tile are multiplied at a time.
	tileEntries = 1 << 10
	// tileAhead is how many entries before its turn the kernels ask for a row of sums.
	tileAhead = 32
)

// AddTileMany multiplies the entries lo <= k < hi of a tile by x.Cols vectors at
// once, at most those of TileColumns:
//
//	acc[Entries[k]>>16][j] += value(k) * x[Entries[k]&0xffff][j]
//
// The rows of acc are TileColumns apart; what is in them beyond x.Cols is spoiled.
// Rows and columns must be in acc and x; they are not checked. The entries from hi to next
// are those of the next tile: what they read of nextX is brought to the cache.
func AddTileMany[V sparse.Value](l Level, t *Tiles[V], lo, hi, next int, x, nextX MultiVector[V], acc []V, e *Expansion[V]) {
	asks := min(hi, lo+next-hi) // entries at whose turn one of the next tile is asked for
	for ahead := hi - lo; lo < hi; {
		end := min(lo+tileEntries, hi)
		if lo < asks {
			end = min(end, asks)
		}
		entries := t.Entries[lo:end]
		val := e.full(Generic, &t.Values, lo, len(entries), 0)
		if l != Generic {
			var later []uint32
			if lo < asks {
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

// TileColumns is the elements of a row of sums for so many columns, which fill a register or half
// or a quarter of one; there may be more columns than that.
func TileColumns[V sparse.Value](l Level, cols int) int {
	bytes, size := registerBytes(l), int(unsafe.Sizeof(*new(V)))
	for bytes > shortRegister && cols*size <= bytes/2 {
		bytes /= 2
	}
	return bytes / size
}

// shortRegister is the bytes of the shortest register.
const shortRegister = 16

// manyTileTable is kernels by the bytes of a row of sums: 16, 32, 64.
type manyTileTable[V sparse.Value] [3]func(n, more int, entries *uint32, val, x *V, ldx int, acc *V, lda, last int, next *uint32, nextX *V)

// addTileMany is AddTileMany for entries with these values; more entries can be read
// behind them. What as many later ones read of nextX is asked for.
func addTileMany[V sparse.Value](l Level, entries []uint32, more int, later []uint32, val []V, x, nextX MultiVector[V], acc []V) {
	lda := TileColumns[V](l, x.Cols) * int(unsafe.Sizeof(*new(V)))
	of[*manyTileTable[V]](manyTileTables)[lda/(2*shortRegister)](len(entries), more, unsafe.SliceData(entries), unsafe.SliceData(val), unsafe.SliceData(x.Val), x.rowBytes(),
		unsafe.SliceData(acc), lda, x.Cols, unsafe.SliceData(later), unsafe.SliceData(nextX.Val))
}
