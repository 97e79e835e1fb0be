package tiles

import (
	"cmp"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
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
)

// tileBuilder builds a tilesForm in two passes over the rows.
type tileBuilder[V sparse.Value] struct {
	form.Heap // of the entries of a tile
	r         form.Rows[V]
	values    form.ValueSet[V]
	out       *tilesForm[V]
}

func newTileBuilder[V sparse.Value](r form.Rows[V], o TileOptions[V]) (*tileBuilder[V], error) {
	r, long := r.Chunked()
	rows, nnz := len(r.Ptr)-1, int64(len(r.Idx))
	height, width, err := tileSize[V](rows, o.Rows, o.Cols)
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
		results: form.Results[V]{Level: o.Level, Long: long}}
	f.entries.Fused = r.Fixed
	if len(r.Ptr) == 1 {
		tiles = 0
	}
	if err := r.CheckOrder(f.shift, "tiles"); err != nil {
		return nil, err
	}
	if err := cmp.Or(
		form.Alloc(r.Mem, &f.first, tiles+1),
		form.Alloc(r.Mem, &f.sums, int64(min(height, rows))),
		form.Alloc(r.Mem, &f.entries.Entries, nnz),
	); err != nil {
		return nil, err
	}
	b := &tileBuilder[V]{Heap: form.Heap{Mem: r.Mem}, r: r, values: o.Values.WithoutTable(), out: f}
	if f.entries.Values, err = b.values.Store(r.Mem, 1, nnz); err != nil {
		return nil, err
	}
	f.MemoryBytes = 8*(tiles+1) + mem.Size[V]()*int64(len(f.sums)) + 4*nnz + form.ValueBytes(&f.entries.Values)
	return b, nil
}

// tileWidth returns the columns of a tile for blocks of rows of the given height: as many as have
// their elements of x in two thirds of the first-level cache, or more if tiles would have few
// entries. It fails if it finds a column outside x.
func tileWidth[V sparse.Value](r form.Rows[V], blocks, height int) (width int, err error) {
	width = min(halfCache[V](cpuid.CPU.Cache.L1D*4/3, firstCache), TileCols)
	nnz := int64(len(r.Idx))
	tiles := func() int64 { return int64(blocks) * tilesAcross(r.Cols, width) }
	if tiles()*minTileFill <= nnz {
		return width, nil
	}
	some := min(blocks, fillBlocks)
	entries, filled := int64(0), make([][]bool, some) // of some blocks of rows
	for i := range filled {
		first := blocks * i / some * height
		idx, _ := r.Entries(first, min(first+height, len(r.Ptr)-1))
		if err := form.CheckColumns(idx, r.Cols); err != nil {
			return 0, err
		}
		filled[i] = make([]bool, tilesAcross(r.Cols, width))
		for _, c := range idx {
			filled[i][int(c)/width] = true
		}
		entries += int64(len(idx))
	}
	for ; width < TileCols; width *= 2 {
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
		idx, _ := b.r.Entries(block*f.height, min((block+1)*f.height, f.rows))
		for len(idx) > 0 {
			some := idx[:min(lookAhead, len(idx))]
			idx = idx[len(some):]
			if err := form.CheckColumns(some, f.cols); err != nil {
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
		for row, k := first, b.r.At(first); row < end; {
			n := 0 // number of entries; the last row may be incomplete
			for ; row < end; row++ {
				some := b.r.Idx[k+int64(n) : min(b.r.At(row+1), k+lookAhead)]
				b.place(uint32(row-first)<<16, some, next, places[n:])
				if n += len(some); k+int64(n) < b.r.At(row+1) {
					break
				}
			}
			b.values.PutAt(&f.entries.Values, places[:n], b.r.Val[k:k+int64(n)])
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
	if err := b.Reserve(largest * int64(4+storage.Bits(int(mem.Size[V]()))/8)); err != nil {
		return err
	}
	entries := make([]uint32, largest)
	var full []V
	var short []float32
	switch storage {
	case form.Full:
		full = make([]V, largest)
	case form.Short:
		short = make([]float32, largest)
	}
	for t := range len(f.first) - 1 {
		lo, hi := f.first[t], f.first[t+1]
		if b.r.Fixed {
			OrderForLanes(f.entries.Entries[lo:hi], func(from int, to []int) {
				switch v := &f.entries.Values; v.Storage {
				case form.Full:
					Move(v.Full[lo:hi], from, to)
				case form.Short:
					Move(v.Short[lo:hi], from, to)
				}
			})
		}
		Distribute(f.entries.Entries[lo:hi], entries)
		if full != nil {
			Distribute(f.entries.Values.Full[lo:hi], full)
		}
		if short != nil {
			Distribute(f.entries.Values.Short[lo:hi], short)
		}
	}
	return nil
}

// Distribute distributes elements in place; room is scratch of the same length.
func Distribute[T any](s, room []T) {
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
