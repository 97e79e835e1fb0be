package simd

import "github.com/msrep-go/msrep/sparse"

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
		tileAssembly(t, false, lo, hi, x, acc, ahead)
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
		for k, e := range t.Entries[lo:hi] {
			acc[e&0xffff] += after * (t.Values.At(lo+k) * x[e>>16])
		}
	default:
		tileAssembly(t, true, lo, hi, x, acc, ahead)
	}
}

func (t *Tiles[V]) add(lo, hi int, x, acc []V) {
	for k, e := range t.Entries[lo:hi] {
		acc[e>>16] = mulAdd(t.Fused, t.Values.At(lo+k), x[e&0xffff], acc[e>>16])
	}
}
