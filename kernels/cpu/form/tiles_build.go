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
	tileLanes = 8 // to which the entries of a tile are dealt
	// minTileFill is how many entries a tile that holds any has at least on average: below, tiles
	// get more columns. emptyFill is the same of all tiles, as empty ones are passed over.
	minTileFill = 128
	emptyFill   = 32
	// fillBlocks is in how many blocks of rows entries and tiles are counted for that.
	fillBlocks = 4
	// manyTiles is how many tiles there may be however few entries they have.
	manyTiles = 1 << 16
	// Caches of a processor that does not say what it has.
	firstCache  = 32 << 10
	secondCache = 512 << 10
)

// tileBuilder makes a tilesForm in two passes over the rows.
type tileBuilder[V sparse.Value] struct {
	heap   // the entries of a tile
	r      Rows[V]
	values ValueSet[V]
	out    *tilesForm[V]
}

// tileSize gives the rows and columns of a piece, a tile or a panel, of a matrix of so many
// rows: at most mostRows, all blocks of them about equally high, and cols, or what fits the
// caches where these are 0.
func tileSize[V sparse.Value](piece string, rows, mostRows, cols int) (height, width int, err error) {
	if mostRows < 0 || mostRows > simd.TileRows || cols < 0 || cols > simd.TileCols || cols&(cols-1) != 0 {
		return 0, 0, sparse.Inputf(piece, "%d rows and %d columns: use at most %d rows, and a power of two up to %d of columns",
			mostRows, cols, simd.TileRows, simd.TileCols)
	}
	if mostRows == 0 {
		mostRows = min(fit[V](cpuid.CPU.Cache.L2, secondCache), simd.TileRows)
	}
	if cols == 0 {
		cols = min(fit[V](cpuid.CPU.Cache.L1D, firstCache), simd.TileCols)
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
		take(r.Mem, &f.first, tiles+1),
		take(r.Mem, &f.sums, int64(min(height, rows))),
		take(r.Mem, &f.entries.Entries, nnz),
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

// tileWidth is the columns of tiles for so many blocks of rows of a height: what two thirds of the
// first cache hold of x, or more where tiles would have few entries. It fails on a column outside x,
// where it looks at columns.
func tileWidth[V sparse.Value](r Rows[V], blocks, height int) (width int, err error) {
	width = min(fit[V](cpuid.CPU.Cache.L1D*4/3, firstCache), simd.TileCols)
	nnz := int64(len(r.Idx))
	tiles := func() int64 { return int64(blocks) * tilesAcross(r.Cols, width) }
	if tiles()*minTileFill <= nnz {
		return width, nil
	}
	some := min(blocks, fillBlocks)
	entries, filled := int64(0), make([][]bool, some) // of some blocks
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

// fit is the elements that half of a cache holds, rounded down to a power of two.
func fit[V sparse.Value](cache, unknown int) int {
	if cache <= 0 {
		cache = unknown
	}
	return 1 << (bits.Len(uint(cache/2/int(mem.Size[V]()))) - 1)
}

// withoutTable is the same values without a table: tiles begin at any entry, and a
// table is read by pairs.
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

// lookAhead is how many entries are looked at together: few enough that they are
// still in the first cache when they are stored.
const lookAhead = 1 << 10

// count finds where each tile begins.
func (b *tileBuilder[V]) count() error {
	f := b.out
	// Four counts for each tile: successive entries of a row are often in the same one,
	// and an addition would wait for the one before.
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

// fill puts the entries in their places: one block of rows after the other, tile by
// tile in the order of the rows, and then deals those of each tile to the lanes.
func (b *tileBuilder[V]) fill() error {
	f := b.out
	next := make([]int64, f.across)
	places := make([]int64, lookAhead)
	for block := 0; block*f.height < f.rows; block++ {
		copy(next, f.first[block*f.across:])
		first, end := block*f.height, min((block+1)*f.height, f.rows)
		for row, k := first, b.r.at(first); row < end; {
			n := 0 // entries of some rows, up to part of the last one
			for ; row < end; row++ {
				some := b.r.Idx[k+int64(n) : min(b.r.at(row+1), k+lookAhead)]
				b.place(uint32(row-first)<<16, some, next, places[n:])
				if n += len(some); k+int64(n) < b.r.at(row+1) {
					break
				}
			}
			b.values.scatter(&f.entries.Values, places[:n], b.r.Val[k:k+int64(n)])
			k += int64(n)
		}
	}
	return b.deal()
}

// place stores entries of a row at next, the place of each tile's next entry, and
// notes the places.
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

// deal deals the entries of every tile to the lanes: the first of them go to lane 0,
// which is every 8th place, then to lane 1.
func (b *tileBuilder[V]) deal() error {
	f := b.out
	largest := int64(0)
	for t := range len(f.first) - 1 {
		largest = max(largest, f.first[t+1]-f.first[t])
	}
	storage := f.entries.Values.Storage
	if err := b.hold(largest * int64(4+storage.Bits(int(mem.Size[V]()))/8)); err != nil {
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
			orderDealt(f.entries.Entries[lo:hi], func(from int, to []int) {
				switch v := &f.entries.Values; v.Storage {
				case simd.Full:
					move(v.Full[lo:hi], from, to)
				case simd.Short:
					move(v.Short[lo:hi], from, to)
				}
			})
		}
		dealTile(f.entries.Entries[lo:hi], entries)
		if full != nil {
			dealTile(f.entries.Values.Full[lo:hi], full)
		}
		if short != nil {
			dealTile(f.entries.Values.Short[lo:hi], short)
		}
	}
	return nil
}

// dealTile deals elements in place, with room for a copy of them.
func dealTile[T any](s, room []T) {
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
