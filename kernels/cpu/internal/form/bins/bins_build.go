package bins

import (
	"cmp"
	"math"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/tiles"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// FirstCaches is the size of the part of x of a block of columns, in halves of the first-level
	// cache.
	FirstCaches = 4
	// MinRun is the least average number of entries of a run. Blocks of columns are widened until
	// runs have that many, because a run occupies whole cache lines.
	MinRun = 64
	// LeastRun is the least average number of entries of a run if there are more than manyTiles
	// runs.
	LeastRun = 8
)

// shortRuns reports whether there are many runs and most are short.
func shortRuns(runs, nnz int64) bool { return runs > form.ManyTiles && runs > nnz/LeastRun }

// binBuilder builds a binsForm in two passes over the rows.
type binBuilder[V sparse.Value] struct {
	form.Heap // of counts, and of two copies of the entries of a block of rows
	r         form.Rows[V]
	values    form.ValueSet[V]
	out       *binsForm[V]
	counts    []uint32 // number of entries of each run, ordered by block of rows, then by block of columns

	largest int64 // most entries of a block of rows
}

func newBinBuilder[V sparse.Value](r form.Rows[V], o BinOptions[V]) (*binBuilder[V], error) {
	if o.Rows < 0 || o.Rows > BinRows || o.Cols < 0 || o.Cols > BinCols || o.Cols&(o.Cols-1) != 0 || o.Group < 0 {
		return nil, sparse.Inputf("bin", "%d rows and %d columns in groups of %d entries: use at most %d rows, and a power of two up to %d of columns",
			o.Rows, o.Cols, o.Group, BinRows, BinCols)
	}
	r, long := r.Chunked()
	rows, nnz := len(r.Ptr)-1, int64(len(r.Idx))
	half := form.HalfCache[V](cpuid.CPU.Cache.L1D, form.FirstCache)
	height := o.Rows
	if height == 0 {
		height = min(half, BinRows)
	}
	blocks := (rows + height - 1) / height
	height = max(1, (rows+max(1, blocks)-1)/max(1, blocks))
	width := o.Cols
	if width == 0 {
		width = min(FirstCaches*half, BinCols)
		for width < BinCols && int64(blocks)*form.TilesAcross(r.Cols, width)*MinRun > nnz {
			width *= 2
		}
	}
	across := form.TilesAcross(r.Cols, width)
	if runs := int64(blocks) * across; shortRuns(runs, nnz) || nnz > math.MaxUint32 {
		return nil, sparse.Inputf("matrix", "bins of %d x %d: %d entries would be in %d runs", height, width, nnz, runs)
	}
	f := &binsForm[V]{BinRuns: NewBinRuns[V](o.Level, r.Cols, width), rows: rows, height: height, results: form.Results[V]{Level: o.Level, Long: long}}
	f.Entries.Fused = r.Fixed
	if err := r.CheckOrder(f.Shift, "bins"); err != nil {
		return nil, err
	}
	if err := cmp.Or(form.Alloc(r.Mem, &f.Blocks, int64(blocks)+1), form.Alloc(r.Mem, &f.sums, int64(height)+1)); err != nil {
		return nil, err
	}
	return &binBuilder[V]{Heap: form.Heap{Mem: r.Mem}, r: r, values: o.Values.WithoutTable(), out: f}, nil
}

// count counts the entries of each run and sets the first slot of each block of rows.
func (b *binBuilder[V]) count() error {
	f := b.out
	runs := (len(f.Blocks) - 1) * f.Across
	if err := b.Reserve(4 * int64(runs)); err != nil {
		return err
	}
	b.counts = make([]uint32, runs)
	for block := range len(f.Blocks) - 1 {
		counts := b.counts[block*f.Across:][:f.Across]
		idx, _ := b.r.Entries(block*f.height, min((block+1)*f.height, f.rows))
		if err := form.CheckColumns(idx, f.Cols); err != nil {
			return err
		}
		for _, c := range idx {
			counts[c>>f.Shift]++
		}
		places := f.Blocks[block]
		for _, n := range counts {
			places += InLines[V](int64(n))
		}
		f.Blocks[block+1] = places
	}
	return nil
}

// layOut assigns slots to the runs and allocates the arrays.
func (b *binBuilder[V]) layOut(group int) (err error) {
	f, m := b.out, b.r.Mem
	if err := f.LayOutRuns(m, group, b.counts); err != nil {
		return err
	}
	all := int64(len(f.Entries.Columns))
	if f.Entries.Rows, err = form.Make[uint16](m, all); err != nil {
		return err
	}
	if f.Entries.Values, err = b.values.Store(m, 1, all); err != nil {
		return err
	}
	for block := range len(f.Blocks) - 1 {
		b.largest = max(b.largest, b.r.At(min((block+1)*f.height, f.rows))-b.r.At(block*f.height))
	}
	if err := b.Reserve(2 * b.largest * (4 + mem.Size[V]())); err != nil {
		return err
	}
	f.EmptySlots = all - int64(len(b.r.Idx))
	f.MemoryBytes = f.Memory() + mem.Size[V]()*int64(len(f.sums)) + 2*all + form.ValueBytes(&f.Entries.Values)
	return nil
}

// fill stores the entries. It sorts the entries of a block of rows by block of columns, then
// distributes those of a run among lanes, so that consecutive additions are independent.
func (b *binBuilder[V]) fill() {
	f := b.out
	for k := range f.Entries.Rows {
		f.Entries.Rows[k] = uint16(f.height)
	}
	next := make([]int64, f.Across)
	entries, room := make([]uint32, b.largest), make([]uint32, b.largest)
	val, valRoom := make([]V, b.largest), make([]V, b.largest)
	for g := range len(f.Groups) - 1 {
		at := make([]int64, f.Across) // the next slot in each block of columns
		copy(at, f.First[g*f.Across:])
		for block := f.Groups[g]; block < f.Groups[g+1]; block++ {
			counts := b.counts[block*f.Across:][:f.Across]
			sum := int64(0)
			for c, n := range counts {
				next[c] = sum
				sum += int64(n)
			}
			b.sort(block, next, entries, val)
			place, done := f.Blocks[block], int64(0)
			for c, n := range counts {
				e, v := entries[done:done+int64(n)], val[done:done+int64(n)]
				done += int64(n)
				if b.r.Fixed {
					tiles.OrderForLanes(e, func(from int, to []int) { tiles.Move(v, from, to) })
				}
				tiles.Distribute(e, room)
				tiles.Distribute(v, valRoom)
				b.put(at[c], place, e, v)
				at[c] += InLines[V](int64(n))
				place += InLines[V](int64(n))
			}
		}
	}
}

// sort copies the entries of a block of rows to the positions next of their blocks of columns.
func (b *binBuilder[V]) sort(block int, next []int64, entries []uint32, val []V) {
	f := b.out
	first := block * f.height
	for row := first; row < min(first+f.height, f.rows); row++ {
		idx, of := b.r.Entries(row, row+1)
		for k, c := range idx {
			s := c >> f.Shift
			at := next[s]
			next[s] = at + 1
			entries[at] = uint32(row-first)<<16 | uint32(c-s<<f.Shift)
			val[at] = of[k]
		}
	}
}

// put stores a run at slot k of the first pass and at slot place of the second pass.
func (b *binBuilder[V]) put(k, place int64, entries []uint32, val []V) {
	f := b.out
	columns, rows := f.Entries.Columns[k:][:len(entries)], f.Entries.Rows[place:][:len(entries)]
	for i, e := range entries {
		columns[i], rows[i] = uint16(e), uint16(e>>16)
	}
	if f.Entries.Values.Storage == form.Full {
		copy(f.Entries.Values.Full[place:], val)
		return
	}
	b.values.Put(&f.Entries.Values, int(place), 1, val)
}
