package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// tileEntries is how many entries of a tile are multiplied at a time.
const tileEntries = 1 << 10

// AddTileMany multiplies the entries lo <= k < hi of a tile by x.Cols vectors at
// once, at most those of TileColumns:
//
//	acc[Entries[k]>>16][j] += value(k) * x[Entries[k]&0xffff][j]
//
// The rows of acc are TileColumns apart; what is in them beyond x.Cols is spoiled.
// Rows and columns must be in acc and x; they are not checked.
func AddTileMany[V sparse.Value](l Level, t *Tiles[V], lo, hi int, x Block[V], acc []V, e *Expansion[V]) {
	for ; lo < hi; lo += tileEntries {
		entries := t.Entries[lo:min(lo+tileEntries, hi)]
		val := e.full(Generic, &t.Values, lo, len(entries), 0)
		if l != Generic {
			tileManyAssembly(l, entries, val, x, acc)
			continue
		}
		for k, at := range entries {
			sum := acc[int(at>>16)*TileColumns[V](l):]
			for j, v := range x.Val[int(at&0xffff)*x.Stride:][:x.Cols] {
				sum[j] += val[k] * v
			}
		}
	}
}

// TileColumns is the columns of a row of sums: a register.
func TileColumns[V sparse.Value](l Level) int {
	return registerBytes(l) / int(unsafe.Sizeof(*new(V)))
}
