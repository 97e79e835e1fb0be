package tiles

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Tiles stores entries with positions in a tile: the low 16 bits of an element of Entries are the
// column, the high 16 bits the row. Value k of Values is the value of entry k; its storage is Full,
// Short or Same.
type Tiles[V sparse.Value] struct {
	Entries []uint32
	Values  form.Values[V]
	// Fused makes plain Go round a product and its sum once, as assembly does.
	Fused bool
}

// AddTile multiplies the entries lo <= k < hi, one after the other:
//
//	acc[Entries[k]>>16] += value(k) * x[Entries[k]&0xffff]
//
// It prefetches ahead, the x of the next call. Rows and columns are not checked; they must be in
// acc and x.
func AddTile[V sparse.Value](l simd.Level, t *Tiles[V], lo, hi int, x, acc, ahead []V) {
	switch {
	case lo >= hi:
	case l < simd.AVX2:
		t.add(lo, hi, x, acc)
	default:
		t.assembly(0, lo, hi, x, acc, ahead)
	}
}

// AddTileTransposed is AddTile with rows and columns exchanged:
//
//	acc[Entries[k]&0xffff] += after * (value(k) * x[Entries[k]>>16])
//
// It prefetches ahead, the acc of the next call. There is assembly only for after = 1; see Factors.
func AddTileTransposed[V sparse.Value](l simd.Level, t *Tiles[V], lo, hi int, after V, x, acc, ahead []V) {
	switch {
	case lo >= hi:
	case l < simd.AVX2 || after != 1:
		t.addTransposed(lo, hi, after, x, acc)
	default:
		t.assembly(1, lo, hi, x, acc, ahead)
	}
}

// tileTable has kernels of tiles and of transposed tiles, by Storage.
type tileTable[V sparse.Value] [2][4]func(a tileArgs[V])

// assembly is AddTile, or AddTileTransposed if transposed is 1, for lo < hi.
func (t *Tiles[V]) assembly(transposed, lo, hi int, x, acc, ahead []V) {
	const line = 64
	n := hi - lo
	lines := len(ahead) * int(unsafe.Sizeof(*new(V))) / line
	perRound := lines/(n/8+1) + 1 // spread evenly, so that they do not delay the tile's own loads
	kernel := simd.ForType[*tileTable[V]](tileTables)[transposed][t.Values.Storage]
	kernel(tileArgs[V]{
		acc: unsafe.SliceData(acc), x: unsafe.SliceData(x), entries: &t.Entries[lo:hi][0], values: t.Values.Entry(lo), n: n,
		ahead: unsafe.SliceData(ahead), lines: lines, perRound: perRound,
	})
}

func (t *Tiles[V]) add(lo, hi int, x, acc []V) {
	var room form.Expanded[V]
	for lo < hi {
		val := t.Values.ValuesFrom(lo, hi-lo, &room)
		entries := t.Entries[lo:][:len(val)]
		lo += len(val)
		if t.Fused {
			for k, e := range entries {
				acc[e>>16] = form.FMA(val[k], x[e&0xffff], acc[e>>16])
			}
			continue
		}
		for k, e := range entries {
			acc[e>>16] += val[k] * x[e&0xffff]
		}
	}
}

func (t *Tiles[V]) addTransposed(lo, hi int, after V, x, acc []V) {
	var room form.Expanded[V]
	for lo < hi {
		val := t.Values.ValuesFrom(lo, hi-lo, &room)
		for k, e := range t.Entries[lo:][:len(val)] {
			acc[e&0xffff] += after * (val[k] * x[e>>16])
		}
		lo += len(val)
	}
}

// tileTables has no kernels on processors without assembly.
var tileTables simd.Kernels
