package slices

import (
	"math"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/bins"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// defaultLone is the default of NearFarOptions.Lone; mostLone is its upper limit.
	defaultLone = 3
	mostLone    = 254
	// oftenFar assumes that one entry of oftenFar is far when the width of blocks of columns is
	// chosen: their runs then have minRun entries.
	oftenFar = 8
)

// nearFarBuilder builds a nearFarForm block by block, then the runs of its far entries.
type nearFarBuilder[V sparse.Value] struct {
	form.Heap // of table, local, far, next, counts and columns
	r         form.Rows[V]
	o         NearFarOptions[V]
	out       *nearFarForm[V]
	table     *lineTable[V]
	fewest    int64   // least number of far entries of a block: if there are fewer, all are near
	local     []int32 // positions of the entries of a block in its local vector
	far       []int32 // indices of the far entries of a block, with room for one more
	next      []int32 // the next slot of each block of columns

	counts  []uint32   // number of entries of each run, ordered by block of rows, then by block of columns
	columns [][]uint16 // for each block, the columns of its far entries in the order of their slots
	sum     int64      // number of far entries
	most    int        // most elements of a local vector
}

func newNearFarBuilder[V sparse.Value](r form.Rows[V], o NearFarOptions[V]) (*nearFarBuilder[V], error) {
	if o.Window < 0 || o.Lone < 0 || o.Lone > mostLone {
		return nil, sparse.Inputf("far", "lines with at most %d of %d entries: use at most %d entries", o.Lone, o.Window, mostLone)
	}
	if o.Cols < 0 || o.Cols > bins.BinCols || o.Cols&(o.Cols-1) != 0 || o.Group < 0 {
		return nil, sparse.Inputf("bin", "%d columns in groups of %d entries: use a power of two up to %d of columns", o.Cols, o.Group, bins.BinCols)
	}
	if o.Window == 0 {
		o.Window = loneWindow[V]()
	}
	if o.Lone == 0 {
		o.Lone = defaultLone
	}
	if o.Cols == 0 {
		o.Cols = min(bins.FirstCaches*form.HalfCache[V](cpuid.CPU.Cache.L1D, form.FirstCache), bins.BinCols)
		for o.Cols < bins.BinCols && form.TilesAcross(r.Cols, o.Cols)*bins.MinRun*oftenFar > int64(o.Window) {
			o.Cols *= 2
		}
	}
	r, long := r.Chunked()
	b := &nearFarBuilder[V]{Heap: form.Heap{Mem: r.Mem}, r: r, o: o,
		out: &nearFarForm[V]{rows: len(r.Ptr) - 1, cols: r.Cols, far: bins.NewBinRuns[V](o.Level, r.Cols, o.Cols),
			results: form.Results[V]{Level: o.Level, Long: long}}}
	f := b.out
	f.far.Blocks = []int64{0}
	longest := min(max(int64(o.Window), r.Longest()), int64(len(r.Idx)))
	if longest > math.MaxInt32/int64(form.BinLine[V]()) {
		return nil, sparse.Inputf("matrix", "near and far entries: a row has %d entries, which do not fit in the local vector of a block", longest)
	}
	if runs := (int64(len(r.Idx))/int64(o.Window) + 1) * int64(f.far.Across); runs > form.ManyTiles {
		b.fewest = bins.LeastRun * int64(f.far.Across)
	}
	if err := b.Reserve(lineTableBytes[V](r.Cols) + 8*longest + 4*int64(f.far.Across)); err != nil {
		return nil, err
	}
	b.table = newLineTable[V](r.Cols)
	b.local, b.far, b.next = make([]int32, longest), make([]int32, longest+1), make([]int32, f.far.Across)
	return b, nil
}

func (b *nearFarBuilder[V]) rows() int { return b.out.rows }

// add builds a block that begins with row first and returns the row after it.
func (b *nearFarBuilder[V]) add(first int) (end int, err error) {
	for end = first + 1; end < b.rows() && b.r.At(end+1)-b.r.At(first) <= int64(b.o.Window); {
		end++
	}
	end = b.wholeLines(first, end)
	lo, hi := b.r.At(first), b.r.At(end)
	if err := form.CheckColumns(b.r.Idx[lo:hi], b.r.Cols); err != nil {
		return 0, err
	}
	line := int64(form.BinLine[V]())
	for {
		n := b.table.count(b.r.Idx[lo:hi], b.o.Lone)
		if hi-lo-n < b.fewest {
			n = b.table.count(b.r.Idx[lo:hi], 0)
		}
		places := int64(len(b.table.near))*line + hi - lo - n
		if end == first+1 || places <= form.NarrowSpan {
			break
		}
		end = b.wholeLines(first, first+max(1, int(int64(end-first)*form.NarrowSpan/places))) // so that columns of 2 bytes suffice
		hi = b.r.At(end)
	}
	near, err := b.lines()
	if err != nil {
		return 0, err
	}
	places := len(b.table.near) * int(line)
	idx := b.r.Idx[lo:hi]
	if places, err = b.placeEntries(idx, places); err != nil {
		return 0, err
	}
	s, err := NewSlices(form.Rows[V]{Ptr: b.r.Ptr[first : end+1], Idx: b.local[:len(idx)], Val: b.r.Val[lo:hi], Cols: places, Fixed: b.r.Fixed, Mem: b.r.Mem},
		SliceOptions[V]{Level: b.o.Level, Values: b.o.Values, Part: true})
	if err != nil {
		return 0, err
	}
	near.slices = s.(*slicesForm[V])
	b.out.blocks = append(b.out.blocks, near)
	b.most = max(b.most, places)
	return end, nil
}

// wholeLines reduces end such that the rows of the block fill whole cache lines of y, if they can:
// the last elements of a block would otherwise be stored one by one.
func (b *nearFarBuilder[V]) wholeLines(first, end int) int {
	if n := end - first; end < b.rows() && n > form.BinLine[V]() {
		return end - n%form.BinLine[V]()
	}
	return end
}

// lines returns a block with its near lines.
func (b *nearFarBuilder[V]) lines() (out nearFarBlock[V], err error) {
	near := b.table.near
	if len(near) == 0 {
		return out, nil
	}
	out.base = int(near[0])
	out.lines, err = form.Make[int32](b.r.Mem, int64(len(near)))
	for i, l := range near[:len(out.lines)] {
		out.lines[i] = l - near[0]
	}
	return out, err
}

// placeEntries sets local to the positions of the entries in the local vector: in near lines, or
// after the first places positions, which are those of the near lines. It stores the columns of the
// far entries and returns the length of the local vector.
func (b *nearFarBuilder[V]) placeEntries(idx []int32, places int) (all int, err error) {
	f := &b.out.far
	far := b.table.places(idx, b.local, b.far)
	counts := make([]uint32, f.Across)
	for _, k := range far {
		counts[idx[k]>>f.Shift]++
	}
	n := int64(0)
	for c := range counts {
		b.next[c] = int32(n)
		n += bins.InLines[V](int64(counts[c]))
	}
	if b.sum += int64(len(far)); b.sum > math.MaxUint32 || int64(places)+n > math.MaxInt32 {
		return 0, sparse.Inputf("matrix", "near and far entries: %d far entries and a local vector of %d elements: at most %d and %d are possible",
			b.sum, int64(places)+n, uint32(math.MaxUint32), math.MaxInt32)
	}
	if err := b.Reserve(4*int64(len(counts)) + 2*n); err != nil {
		return 0, err
	}
	columns := make([]uint16, n)
	for _, k := range far {
		c := idx[k] >> f.Shift
		at := b.next[c]
		b.next[c]++
		columns[at] = uint16(idx[k] - c<<f.Shift)
		b.local[k] = int32(places) + at
	}
	b.counts, b.columns = append(b.counts, counts...), append(b.columns, columns)
	f.Blocks = append(f.Blocks, f.Blocks[len(f.Blocks)-1]+n)
	return places + int(n), nil
}

// finish builds the runs. It also makes all blocks share the scratch of the first one.
func (b *nearFarBuilder[V]) finish() (_ form.Form[V], err error) {
	f := b.out
	if err := f.far.LayOutRuns(b.r.Mem, b.o.Group, b.counts); err != nil {
		return nil, err
	}
	next := make([]int64, f.far.Across)
	for g := range len(f.far.Groups) - 1 {
		copy(next, f.far.First[g*f.far.Across:])
		for i := f.far.Groups[g]; i < f.far.Groups[g+1]; i++ {
			columns := b.columns[i]
			for c, n := range b.counts[i*f.far.Across:][:f.far.Across] {
				run := columns[:bins.InLines[V](int64(n))]
				columns = columns[len(run):]
				next[c] += int64(copy(f.far.Entries.Columns[next[c]:], run))
			}
		}
	}
	if f.local, err = form.Make[V](b.r.Mem, int64(b.most)); err != nil {
		return nil, err
	}
	f.farFraction = float64(b.sum) / float64(max(len(b.r.Idx), 1))
	f.EmptySlots = int64(len(f.far.Entries.Columns)) - b.sum
	f.MemoryBytes = f.far.Memory() + mem.Size[V]()*int64(len(f.local))
	for i := range f.blocks {
		s, first := f.blocks[i].slices, f.blocks[0].slices
		f.EmptySlots += s.EmptySlots
		f.MemoryBytes += nearFarBlockBytes + 4*int64(len(f.blocks[i].lines)) + s.MemoryBytes
		if i > 0 {
			s.sums, s.wideSums, s.rowSums = first.sums, first.wideSums, first.rowSums
			f.MemoryBytes -= 3 * mem.Size[V]() * int64(len(s.sums))
		}
	}
	f.results.Stream = form.Beyond(f.MemoryBytes + mem.Size[V]()*int64(f.rows+min(f.rows, f.cols)))
	return f, nil
}

// nearFarBlockBytes is about the size of a block without its slices.
const nearFarBlockBytes = 40
