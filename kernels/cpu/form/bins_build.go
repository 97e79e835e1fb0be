package form

import (
	"cmp"
	"math"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// firstCaches is the size of the part of x of a block of columns, in halves of the first-level
	// cache.
	firstCaches = 4
	// minRun is the least average number of entries of a run. Blocks of columns are widened until
	// runs have that many, because a run occupies whole cache lines.
	minRun = 64
	// leastRun is the least average number of entries of a run if there are more than manyTiles
	// runs.
	leastRun = 8
)

// shortRuns reports whether there are many runs and most are short.
func shortRuns(runs, nnz int64) bool { return runs > manyTiles && runs > nnz/leastRun }

// binBuilder builds a binsForm in two passes over the rows.
type binBuilder[V sparse.Value] struct {
	heap   // of counts, and of two copies of the entries of a block of rows
	r      Rows[V]
	values ValueSet[V]
	out    *binsForm[V]
	counts []uint32 // number of entries of each run, ordered by block of rows, then by block of columns

	largest int64 // most entries of a block of rows
}

func newBinBuilder[V sparse.Value](r Rows[V], o BinOptions[V]) (*binBuilder[V], error) {
	if o.Rows < 0 || o.Rows > simd.BinRows || o.Cols < 0 || o.Cols > simd.BinCols || o.Cols&(o.Cols-1) != 0 || o.Group < 0 {
		return nil, sparse.Inputf("bin", "%d rows and %d columns in groups of %d entries: use at most %d rows, and a power of two up to %d of columns",
			o.Rows, o.Cols, o.Group, simd.BinRows, simd.BinCols)
	}
	r, long := r.chunked()
	rows, nnz := len(r.Ptr)-1, int64(len(r.Idx))
	half := halfCache[V](cpuid.CPU.Cache.L1D, firstCache)
	height := o.Rows
	if height == 0 {
		height = min(half, simd.BinRows)
	}
	blocks := (rows + height - 1) / height
	height = max(1, (rows+max(1, blocks)-1)/max(1, blocks))
	width := o.Cols
	if width == 0 {
		width = min(firstCaches*half, simd.BinCols)
		for width < simd.BinCols && int64(blocks)*tilesAcross(r.Cols, width)*minRun > nnz {
			width *= 2
		}
	}
	across := tilesAcross(r.Cols, width)
	if runs := int64(blocks) * across; shortRuns(runs, nnz) || nnz > math.MaxUint32 {
		return nil, sparse.Inputf("matrix", "bins of %d x %d: %d entries would be in %d runs", height, width, nnz, runs)
	}
	f := &binsForm[V]{binRuns: newBinRuns[V](o.Level, r.Cols, width), rows: rows, height: height, results: results[V]{level: o.Level, long: long}}
	f.entries.Fused = r.Fixed
	if err := r.checkOrder(f.shift, "bins"); err != nil {
		return nil, err
	}
	if err := cmp.Or(alloc(r.Mem, &f.blocks, int64(blocks)+1), alloc(r.Mem, &f.sums, int64(height)+1)); err != nil {
		return nil, err
	}
	return &binBuilder[V]{heap: heap{mem: r.Mem}, r: r, values: o.Values.withoutTable(), out: f}, nil
}

// count counts the entries of each run and sets the first slot of each block of rows.
func (b *binBuilder[V]) count() error {
	f := b.out
	runs := (len(f.blocks) - 1) * f.across
	if err := b.reserve(4 * int64(runs)); err != nil {
		return err
	}
	b.counts = make([]uint32, runs)
	for block := range len(f.blocks) - 1 {
		counts := b.counts[block*f.across:][:f.across]
		idx, _ := b.r.entries(block*f.height, min((block+1)*f.height, f.rows))
		if err := checkColumns(idx, f.cols); err != nil {
			return err
		}
		for _, c := range idx {
			counts[c>>f.shift]++
		}
		places := f.blocks[block]
		for _, n := range counts {
			places += inLines[V](int64(n))
		}
		f.blocks[block+1] = places
	}
	return nil
}

// layOut assigns slots to the runs and allocates the arrays.
func (b *binBuilder[V]) layOut(group int) (err error) {
	f, m := b.out, b.r.Mem
	if err := f.layOutRuns(m, group, b.counts); err != nil {
		return err
	}
	all := int64(len(f.entries.Columns))
	if f.entries.Rows, err = Make[uint16](m, all); err != nil {
		return err
	}
	if f.entries.Values, err = b.values.store(m, 1, all); err != nil {
		return err
	}
	for block := range len(f.blocks) - 1 {
		b.largest = max(b.largest, b.r.at(min((block+1)*f.height, f.rows))-b.r.at(block*f.height))
	}
	if err := b.reserve(2 * b.largest * (4 + mem.Size[V]())); err != nil {
		return err
	}
	f.padding = all - int64(len(b.r.Idx))
	f.bytes = f.memory() + mem.Size[V]()*int64(len(f.sums)) + 2*all + valueBytes(&f.entries.Values)
	return nil
}

// fill stores the entries. It sorts the entries of a block of rows by block of columns, then
// distributes those of a run among lanes, so that consecutive additions are independent.
func (b *binBuilder[V]) fill() {
	f := b.out
	for k := range f.entries.Rows {
		f.entries.Rows[k] = uint16(f.height)
	}
	next := make([]int64, f.across)
	entries, room := make([]uint32, b.largest), make([]uint32, b.largest)
	val, valRoom := make([]V, b.largest), make([]V, b.largest)
	for g := range len(f.groups) - 1 {
		at := make([]int64, f.across) // the next slot in each block of columns
		copy(at, f.first[g*f.across:])
		for block := f.groups[g]; block < f.groups[g+1]; block++ {
			counts := b.counts[block*f.across:][:f.across]
			sum := int64(0)
			for c, n := range counts {
				next[c] = sum
				sum += int64(n)
			}
			b.sort(block, next, entries, val)
			place, done := f.blocks[block], int64(0)
			for c, n := range counts {
				e, v := entries[done:done+int64(n)], val[done:done+int64(n)]
				done += int64(n)
				if b.r.Fixed {
					orderForLanes(e, func(from int, to []int) { move(v, from, to) })
				}
				distribute(e, room)
				distribute(v, valRoom)
				b.put(at[c], place, e, v)
				at[c] += inLines[V](int64(n))
				place += inLines[V](int64(n))
			}
		}
	}
}

// sort copies the entries of a block of rows to the positions next of their blocks of columns.
func (b *binBuilder[V]) sort(block int, next []int64, entries []uint32, val []V) {
	f := b.out
	first := block * f.height
	for row := first; row < min(first+f.height, f.rows); row++ {
		idx, of := b.r.entries(row, row+1)
		for k, c := range idx {
			s := c >> f.shift
			at := next[s]
			next[s] = at + 1
			entries[at] = uint32(row-first)<<16 | uint32(c-s<<f.shift)
			val[at] = of[k]
		}
	}
}

// put stores a run at slot k of the first pass and at slot place of the second pass.
func (b *binBuilder[V]) put(k, place int64, entries []uint32, val []V) {
	f := b.out
	columns, rows := f.entries.Columns[k:][:len(entries)], f.entries.Rows[place:][:len(entries)]
	for i, e := range entries {
		columns[i], rows[i] = uint16(e), uint16(e>>16)
	}
	if f.entries.Values.Storage == simd.Full {
		copy(f.entries.Values.Full[place:], val)
		return
	}
	b.values.put(&f.entries.Values, int(place), 1, val)
}
