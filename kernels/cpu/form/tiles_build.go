package form

import (
	"math/bits"
	"slices"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	tileLanes = 8 // to which the entries of a tile are dealt
	// minTileFill is how many entries a tile has at least on average: below, it gets
	// more columns.
	minTileFill = 128
	// manyTiles is how many tiles there may be however few entries they have.
	manyTiles = 1 << 16
	// Caches of a processor that does not say what it has.
	firstCache  = 32 << 10
	secondCache = 512 << 10
)

// tileBuilder makes a tilesForm in two passes over the rows.
type tileBuilder[V sparse.Value] struct {
	r      Rows[V]
	values ValueSet[V]
	out    *tilesForm[V]
}

func newTileBuilder[V sparse.Value](r Rows[V], o TileOptions[V]) (*tileBuilder[V], error) {
	if o.Rows < 0 || o.Rows > simd.TileRows || o.Cols < 0 || o.Cols > simd.TileCols || o.Cols&(o.Cols-1) != 0 {
		return nil, sparse.Inputf("tile", "%d rows and %d columns: use at most %d rows, and a power of two up to %d of columns",
			o.Rows, o.Cols, simd.TileRows, simd.TileCols)
	}
	rows, nnz := len(r.Ptr)-1, int64(len(r.Idx))
	height := o.Rows
	if height == 0 {
		height = min(fit[V](cpuid.CPU.Cache.L2, secondCache), simd.TileRows)
	}
	blocks := max(1, (rows+height-1)/height)
	height = max(1, (rows+blocks-1)/blocks)

	width := o.Cols
	if width == 0 {
		width = min(fit[V](cpuid.CPU.Cache.L1D, firstCache), simd.TileCols)
		for width < simd.TileCols && int64(blocks)*tilesAcross(r.Cols, width)*minTileFill > nnz {
			width *= 2
		}
	}
	tiles := int64(blocks) * tilesAcross(r.Cols, width)
	if tiles > manyTiles && tiles > nnz {
		return nil, sparse.Inputf("matrix", "tiles of %d x %d: %d entries would be in %d tiles", height, width, nnz, tiles)
	}
	f := &tilesForm[V]{level: o.Level, rows: rows, cols: r.Cols, height: height,
		shift: uint8(bits.TrailingZeros(uint(width))), across: int(tilesAcross(r.Cols, width))}
	if len(r.Ptr) == 1 {
		tiles = 0
	}
	var err error
	if f.first, err = Make[int64](r.Mem, tiles+1); err != nil {
		return nil, err
	}
	if f.sums, err = Make[V](r.Mem, int64(min(height, rows))); err != nil {
		return nil, err
	}
	if f.entries.Entries, err = Make[uint32](r.Mem, nnz); err != nil {
		return nil, err
	}
	b := &tileBuilder[V]{r: r, values: o.Values.withoutTable(), out: f}
	if f.entries.Values, err = b.values.store(r.Mem, 1, nnz); err != nil {
		return nil, err
	}
	f.bytes = 8*(tiles+1) + mem.Size[V]()*int64(len(f.sums)) + 4*nnz + valueBytes(&f.entries.Values)
	return b, nil
}

// fit is the elements that half of a cache holds, rounded down to a power of two.
func fit[V sparse.Value](cache, unknown int) int {
	if cache <= 0 {
		cache = unknown
	}
	return 1 << (bits.Len(uint(cache/2/int(mem.Size[V]()))) - 1)
}

// tilesAcross is how many tiles of so many columns lie side by side, at least one.
func tilesAcross(cols, width int) int64 {
	return max(1, (int64(cols)+int64(width)-1)/int64(width))
}

// withoutTable is the same values without a table: tiles begin at any entry, and a
// table is read by pairs.
func (s ValueSet[V]) withoutTable() ValueSet[V] {
	if s.storage != simd.Table {
		return s
	}
	s.storage = simd.Full
	if mem.Size[V]() == 8 && !slices.ContainsFunc(s.values, func(v V) bool { return bitsOf(V(float32(v))) != bitsOf(v) }) {
		s.storage = simd.Short
	}
	return s
}

// count finds where each tile begins.
func (b *tileBuilder[V]) count() error {
	f := b.out
	for block := 0; block*f.height < f.rows; block++ {
		counts := f.first[block*f.across+1:][:f.across]
		idx := b.r.Idx[b.at(block*f.height):b.at(min((block+1)*f.height, f.rows))]
		if err := checkColumns(idx, f.cols); err != nil {
			return err
		}
		for _, c := range idx {
			counts[c>>f.shift]++
		}
	}
	for t := 1; t < len(f.first); t++ {
		f.first[t] += f.first[t-1]
	}
	return nil
}

// at is where the entries of row i begin.
func (b *tileBuilder[V]) at(i int) int64 { return b.r.Ptr[i] - b.r.Ptr[0] }

// fill puts the entries in their places. Those of a tile come in the order of its
// rows: the first of them go to lane 0, which is every 8th place, then to lane 1.
func (b *tileBuilder[V]) fill() error {
	f := b.out
	next := make([]int64, f.across)
	for block := 0; block*f.height < f.rows; block++ {
		first := f.first[block*f.across:][:f.across+1]
		copy(next, first)
		lo := block * f.height
		for i := lo; i < min(lo+f.height, f.rows); i++ {
			b.fillRow(uint32(i-lo)<<16, b.at(i), b.at(i+1), first, next)
		}
	}
	return nil
}

// fillRow puts entries lo <= k < hi of a row. next has the place of each tile's next
// entry.
func (b *tileBuilder[V]) fillRow(row uint32, lo, hi int64, first, next []int64) {
	f := b.out
	mask := uint32(1)<<f.shift - 1
	val := &f.entries.Values
	for k, c := range b.r.Idx[lo:hi] {
		t := c >> f.shift
		at := next[t]
		next[t] = at + tileLanes
		if next[t] >= first[t+1] { // the next lane
			next[t] = first[t] + (at-first[t])%tileLanes + 1
		}
		f.entries.Entries[at] = row | uint32(c)&mask
		switch val.Storage {
		case simd.Full:
			val.Full[at] = b.r.Val[lo+int64(k)]
		case simd.Short:
			val.Short[at] = float32(b.r.Val[lo+int64(k)])
		}
	}
}
