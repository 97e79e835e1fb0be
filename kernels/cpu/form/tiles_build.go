package form

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	tileLanes = 8 // number of lanes over which the entries of a tile are distributed
	// minTileFill is the least average number of entries of a tile that is not empty, emptyFill
	// that of all tiles, because empty ones cost little. Tiles are widened until both are reached.
	minTileFill = 128
	emptyFill   = 32
	// fillBlocks is the number of blocks of rows from which these averages are computed.
	fillBlocks = 4
	// manyTiles is the number of tiles that is allowed however few entries they have.
	manyTiles = 1 << 16
	// Cache sizes, if the processor does not report them.
	firstCache  = 32 << 10
	secondCache = 512 << 10
)

// tileBuilder builds a tilesForm in two passes over the rows.
type tileBuilder[V sparse.Value] struct {
	heap   // of the entries of a tile
	r      Rows[V]
	values ValueSet[V]
	out    *tilesForm[V]
}

// tileSize returns the rows and columns of a piece, which is a tile or a panel. Blocks of rows have
// about equal heights of at most mostRows. The width is cols. If mostRows or cols is 0, the cache
// sizes determine it.
func tileSize[V sparse.Value](piece string, rows, mostRows, cols int) (height, width int, err error) {
	if mostRows < 0 || mostRows > simd.TileRows || cols < 0 || cols > simd.TileCols || cols&(cols-1) != 0 {
		return 0, 0, sparse.Inputf(piece, "%d rows and %d columns: use at most %d rows, and a power of two up to %d of columns",
			mostRows, cols, simd.TileRows, simd.TileCols)
	}
	if mostRows == 0 {
		mostRows = min(halfCache[V](cpuid.CPU.Cache.L2, secondCache), simd.TileRows)
	}
	if cols == 0 {
		cols = min(halfCache[V](cpuid.CPU.Cache.L1D, firstCache), simd.TileCols)
	}
	blocks := max(1, (rows+mostRows-1)/mostRows)
	return max(1, (rows+blocks-1)/blocks), cols, nil
}

func newTileBuilder[V sparse.Value](r Rows[V], o TileOptions[V]) (*tileBuilder[V], error) {
	r, long := r.chunked()
	rows, nnz := len(r.Ptr)-1, int64(len(r.Idx))
	height, width, err := tileSize[V]("tile", rows, o.Rows, o.Cols)
	if err != nil {
		return nil, err
	}
	blocks := max(1, (rows+height-1)/height)
	if o.Cols == 0 {
		if width, err = tileWidth(r, blocks, height); err != nil {
			return nil, err
		}
	}
	tiles := int64(blocks) * tilesAcross(r.Cols, width)
	if tiles > manyTiles && tiles > nnz {
		return nil, sparse.Inputf("matrix", "tiles of %d x %d: %d entries would be in %d tiles", height, width, nnz, tiles)
	}
	f := &tilesForm[V]{columnBlocks: newColumnBlocks[V](r.Cols, width), level: o.Level, rows: rows, height: height,
		results: results[V]{level: o.Level, long: long}}
	f.entries.Fused = r.Fixed
	if len(r.Ptr) == 1 {
		tiles = 0
	}
	if err := r.checkOrder(f.shift, "tiles"); err != nil {
		return nil, err
	}
	if err := cmp.Or(
		alloc(r.Mem, &f.first, tiles+1),
		alloc(r.Mem, &f.sums, int64(min(height, rows))),
		alloc(r.Mem, &f.entries.Entries, nnz),
	); err != nil {
		return nil, err
	}
	b := &tileBuilder[V]{heap: heap{mem: r.Mem}, r: r, values: o.Values.withoutTable(), out: f}
	if f.entries.Values, err = b.values.store(r.Mem, 1, nnz); err != nil {
		return nil, err
	}
	f.bytes = 8*(tiles+1) + mem.Size[V]()*int64(len(f.sums)) + 4*nnz + valueBytes(&f.entries.Values)
	return b, nil
}

// tileWidth returns the columns of a tile for blocks of rows of the given height: as many as have
// their elements of x in two thirds of the first-level cache, or more if tiles would have few
// entries. It fails if it finds a column outside x.
func tileWidth[V sparse.Value](r Rows[V], blocks, height int) (width int, err error) {
	width = min(halfCache[V](cpuid.CPU.Cache.L1D*4/3, firstCache), simd.TileCols)
	nnz := int64(len(r.Idx))
	tiles := func() int64 { return int64(blocks) * tilesAcross(r.Cols, width) }
	if tiles()*minTileFill <= nnz {
		return width, nil
	}
	some := min(blocks, fillBlocks)
	entries, filled := int64(0), make([][]bool, some) // of some blocks of rows
	for i := range filled {
		first := blocks * i / some * height
		idx, _ := r.entries(first, min(first+height, len(r.Ptr)-1))
		if err := checkColumns(idx, r.Cols); err != nil {
			return 0, err
		}
		filled[i] = make([]bool, tilesAcross(r.Cols, width))
		for _, c := range idx {
			filled[i][int(c)/width] = true
		}
		entries += int64(len(idx))
	}
	for ; width < simd.TileCols; width *= 2 {
		n := int64(0)
		for i, f := range filled {
			for t := range f {
				if f[t] {
					n++
				}
				f[t/2] = f[t] || t%2 > 0 && f[t/2] // for twice the width
			}
			filled[i] = f[:(len(f)+1)/2]
		}
		if n*minTileFill <= entries && tiles()*emptyFill <= nnz {
			break
		}
	}
	return width, nil
}

// halfCache returns the number of elements that half of a cache holds, rounded down to a power of
// two.
func halfCache[V sparse.Value](cache, unknown int) int {
	if cache <= 0 {
		cache = unknown
	}
	return 1 << (bits.Len(uint(cache/2/int(mem.Size[V]()))) - 1)
}

// withoutTable returns s with another storage if s uses a table: a table is read by pairs of
// values, but tiles begin at any entry.
func (s ValueSet[V]) withoutTable() ValueSet[V] {
	switch s.storage {
	case simd.Bits57:
		return s.not57()
	case simd.Table:
	default:
		return s
	}
	s.storage = simd.Full
	if mem.Size[V]() == 8 && !slices.ContainsFunc(s.values, func(v V) bool { return bitsOf(V(float32(v))) != bitsOf(v) }) {
		s.storage = simd.Short
	}
	return s
}

// lookAhead is the number of entries that are placed together, before their values are stored. They
// stay in the first-level cache until then.
const lookAhead = 1 << 10

// count computes the index of the first entry of each tile.
func (b *tileBuilder[V]) count() error {
	f := b.out
	// Four counts per tile: successive entries of a row are often in the same tile, and increments
	// of one count would depend on each other.
	counts := make([][4]int64, f.across)
	for block := 0; block*f.height < f.rows; block++ {
		clear(counts)
		idx, _ := b.r.entries(block*f.height, min((block+1)*f.height, f.rows))
		for len(idx) > 0 {
			some := idx[:min(lookAhead, len(idx))]
			idx = idx[len(some):]
			if err := checkColumns(some, f.cols); err != nil {
				return err
			}
			for k, c := range some {
				counts[c>>f.shift][k&3]++
			}
		}
		for t, c := range counts {
			f.first[block*f.across+1+t] = c[0] + c[1] + c[2] + c[3]
		}
	}
	for t := 1; t < len(f.first); t++ {
		f.first[t] += f.first[t-1]
	}
	return nil
}

// fill stores the entries, one block of rows after the other, sorted by tile and within a tile by
// row. It then distributes the entries of each tile over the lanes.
func (b *tileBuilder[V]) fill() error {
	f := b.out
	next := make([]int64, f.across)
	places := make([]int64, lookAhead)
	for block := 0; block*f.height < f.rows; block++ {
		copy(next, f.first[block*f.across:])
		first, end := block*f.height, min((block+1)*f.height, f.rows)
		for row, k := first, b.r.at(first); row < end; {
			n := 0 // number of entries; the last row may be incomplete
			for ; row < end; row++ {
				some := b.r.Idx[k+int64(n) : min(b.r.at(row+1), k+lookAhead)]
				b.place(uint32(row-first)<<16, some, next, places[n:])
				if n += len(some); k+int64(n) < b.r.at(row+1) {
					break
				}
			}
			b.values.putAt(&f.entries.Values, places[:n], b.r.Val[k:k+int64(n)])
			k += int64(n)
		}
	}
	return b.distributeTiles()
}

// place stores entries of a row at next, which has the next slot of each tile, and sets places to
// their slots.
func (b *tileBuilder[V]) place(row uint32, idx []int32, next, places []int64) {
	f := b.out
	places = places[:len(idx)]
	for k := 0; k < len(idx); {
		t := idx[k] >> f.shift
		at := next[t]
		for ; k < len(idx) && idx[k]>>f.shift == t; k++ {
			f.entries.Entries[at] = row | uint32(idx[k]-t<<f.shift)
			places[k] = at
			at++
		}
		next[t] = at
	}
}

// distributeTiles distributes the entries of every tile over the lanes: the first ones go to lane
// 0, which is every 8th slot, the next ones to lane 1, and so on.
func (b *tileBuilder[V]) distributeTiles() error {
	f := b.out
	largest := int64(0)
	for t := range len(f.first) - 1 {
		largest = max(largest, f.first[t+1]-f.first[t])
	}
	storage := f.entries.Values.Storage
	if err := b.reserve(largest * int64(4+storage.Bits(int(mem.Size[V]()))/8)); err != nil {
		return err
	}
	entries := make([]uint32, largest)
	var full []V
	var short []float32
	switch storage {
	case simd.Full:
		full = make([]V, largest)
	case simd.Short:
		short = make([]float32, largest)
	}
	for t := range len(f.first) - 1 {
		lo, hi := f.first[t], f.first[t+1]
		if b.r.Fixed {
			orderForLanes(f.entries.Entries[lo:hi], func(from int, to []int) {
				switch v := &f.entries.Values; v.Storage {
				case simd.Full:
					move(v.Full[lo:hi], from, to)
				case simd.Short:
					move(v.Short[lo:hi], from, to)
				}
			})
		}
		distribute(f.entries.Entries[lo:hi], entries)
		if full != nil {
			distribute(f.entries.Values.Full[lo:hi], full)
		}
		if short != nil {
			distribute(f.entries.Values.Short[lo:hi], short)
		}
	}
	return nil
}

// distribute distributes elements in place; room is scratch of the same length.
func distribute[T any](s, room []T) {
	room = room[:copy(room, s)]
	each, more := len(s)/tileLanes, len(s)%tileLanes
	var lane [tileLanes][]T
	for l := range lane {
		n := each
		if l < more {
			n++
			s[each*tileLanes+l] = room[each]
		}
		lane[l], room = room[:each], room[n:]
	}
	a, b, c, d := lane[0], lane[1][:each], lane[2][:each], lane[3][:each]
	e, f, g, h := lane[4][:each], lane[5][:each], lane[6][:each], lane[7][:each]
	for i := range a {
		to := (*[tileLanes]T)(s[i*tileLanes:])
		to[0], to[1], to[2], to[3] = a[i], b[i], c[i], d[i]
		to[4], to[5], to[6], to[7] = e[i], f[i], g[i], h[i]
	}
}
