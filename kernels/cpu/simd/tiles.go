package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// TileRows and TileCols are the most rows and columns that a tile can have.
const (
	TileRows = 1 << 16
	TileCols = 1 << 16
)

// Tiles is entries of a matrix that are addressed within a tile: the column in the
// low 16 bits of an element of Entries, the row in the high ones. Values has the
// value of entry k as value k; its storage is Full, Short or Same.
type Tiles[V sparse.Value] struct {
	Entries []uint32
	Values  Values[V]
	// Fused says to round a product and its sum once in plain Go too, as assembly does.
	Fused bool
}

// AddTile multiplies the entries lo <= k < hi, one after the other:
//
//	acc[Entries[k]>>16] += value(k) * x[Entries[k]&0xffff]
//
// ahead is what the next call reads of x: it is brought to the cache meanwhile.
// Rows and columns must be in acc and x; they are not checked.
func AddTile[V sparse.Value](l Level, t *Tiles[V], lo, hi int, x, acc, ahead []V) {
	switch {
	case lo >= hi:
	case l == Generic:
		t.add(lo, hi, x, acc)
	default:
		t.assembly(0, lo, hi, x, acc, ahead)
	}
}

// AddTileTransposed is AddTile with rows and columns in each other's place:
//
//	acc[Entries[k]&0xffff] += after * (value(k) * x[Entries[k]>>16])
//
// ahead is what the next call adds to. It is fast where after is 1; see Factors.
func AddTileTransposed[V sparse.Value](l Level, t *Tiles[V], lo, hi int, after V, x, acc, ahead []V) {
	switch {
	case lo >= hi:
	case l == Generic || after != 1:
		t.addTransposed(lo, hi, after, x, acc)
	default:
		t.assembly(1, lo, hi, x, acc, ahead)
	}
}

// tileTable is kernels of tiles and of transposed ones, by Storage.
type tileTable[V sparse.Value] [2][4]func(acc, x *V, entries *uint32, values *byte, n int, ahead *V, lines, perRound int)

// assembly is AddTile, or AddTileTransposed where transposed is 1, for lo < hi.
func (t *Tiles[V]) assembly(transposed, lo, hi int, x, acc, ahead []V) {
	const line = 64
	n := hi - lo
	lines := len(ahead) * int(unsafe.Sizeof(*new(V))) / line
	perRound := lines/(n/8+1) + 1 // evenly, so that they do not hold up the tile's own loads
	kernel := of[*tileTable[V]](tileTables)[transposed][t.Values.Storage]
	kernel(unsafe.SliceData(acc), unsafe.SliceData(x), &t.Entries[lo:hi][0], t.Values.entry(lo), n,
		unsafe.SliceData(ahead), lines, perRound)
}

func (t *Tiles[V]) add(lo, hi int, x, acc []V) {
	var room expanded[V]
	for lo < hi {
		val := t.Values.some(lo, hi-lo, &room)
		entries := t.Entries[lo:][:len(val)]
		lo += len(val)
		if t.Fused {
			for k, e := range entries {
				acc[e>>16] = FMA(val[k], x[e&0xffff], acc[e>>16])
			}
			continue
		}
		for k, e := range entries {
			acc[e>>16] += val[k] * x[e&0xffff]
		}
	}
}

func (t *Tiles[V]) addTransposed(lo, hi int, after V, x, acc []V) {
	var room expanded[V]
	for lo < hi {
		val := t.Values.some(lo, hi-lo, &room)
		for k, e := range t.Entries[lo:][:len(val)] {
			acc[e&0xffff] += after * (val[k] * x[e>>16])
		}
		lo += len(val)
	}
}
