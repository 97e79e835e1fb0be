package form

import (
	"math/bits"

	"github.com/klauspost/cpuid/v2"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

const (
	// defaultLone is how many entries of a window may share a line of x that is far.
	defaultLone = 3
	// mostLone leaves room to count one more in a byte.
	mostLone = 254
	// defaultBlock is the rows whose near entries are copied and made slices at a time.
	defaultBlock = 1 << 15
	// tallBins is how many times as high as others bins may be where runs would be short.
	tallBins = 4
)

// loneWindow is the entries of a window, whose lines of x stay in the second cache.
func loneWindow[V sparse.Value]() int { return fit[V](cpuid.CPU.Cache.L2, secondCache) / 2 }

// lineShift is log2 of the elements in a cache line.
func lineShift[V sparse.Value]() int {
	if mem.Size[V]() == 8 {
		return 3
	}
	return 4
}

// lines counts how many entries of a window read each cache line of x.
type lines[V sparse.Value] struct {
	of   []uint8
	lone uint8
}

// newLines has room for an x of so many elements.
func newLines[V sparse.Value](cols int, lone uint8) lines[V] {
	return lines[V]{of: make([]uint8, cols>>lineShift[V]()+1), lone: lone}
}

// count counts the columns of a window, up to one more than lone ones.
func (l *lines[V]) count(idx []int32) {
	for _, c := range idx {
		if n := &l.of[c>>lineShift[V]()]; *n <= l.lone {
			*n++
		}
	}
}

// isFar is 1 for a column of a lone line, and otherwise 0.
func (l *lines[V]) isFar(c int32) (one int) {
	if l.of[c>>lineShift[V]()] <= l.lone {
		one = 1
	}
	return one
}

// mark sets the bits of entries, from that of entry k on, to isFar of their columns.
func (l *lines[V]) mark(idx []int32, k int64, marks []uint64) {
	for len(idx) > 0 {
		some := idx[:min(64-int(k%64), len(idx))]
		word := uint64(0)
		for i := len(some) - 1; i >= 0; i-- {
			word = word<<1 | uint64(l.isFar(some[i]))
		}
		marks[k/64] |= word << (k % 64)
		idx, k = idx[len(some):], k+int64(len(some))
	}
}

// forget sets the counts of a window back.
func (l *lines[V]) forget(idx []int32) {
	if len(l.of) <= 64*len(idx) {
		clear(l.of)
		return
	}
	for _, c := range idx {
		l.of[c>>lineShift[V]()] = 0
	}
}

// LoneShare is the share of entries that NewNearFar takes for far ones with its defaults, by
// 8 windows with at most an eighth of all entries. It is 0 where x is near enough to the
// second cache to be read fast, or has more lines than there are entries, and for columns
// outside x.
func LoneShare[V sparse.Value](r Rows[V]) float64 {
	second := 2 * fit[V](cpuid.CPU.Cache.L2, secondCache) // elements that fill it
	n := int64(loneWindow[V]())
	nnz := int64(len(r.Idx))
	if r.Cols <= nearSecond*second || nnz < 8*sampleWindows*n || nnz < int64(r.Cols>>lineShift[V]()) {
		return 0
	}
	l := newLines[V](r.Cols, defaultLone)
	far := 0
	for w := range int64(sampleWindows) {
		idx := r.Idx[(nnz-n)*w/(sampleWindows-1):][:n]
		if checkColumns(idx, r.Cols) != nil {
			return 0
		}
		l.count(idx)
		for _, c := range idx {
			far += l.isFar(c)
		}
		l.forget(idx)
	}
	return float64(far) / float64(sampleWindows*n)
}

// nearFarBuilder makes a nearFarForm: it marks the far entries, makes slices of the near ones
// block by block, and bins of the others.
type nearFarBuilder[V sparse.Value] struct {
	heap   // marks, counts, the near entries of a block and all far ones
	r      Rows[V]
	o      NearFarOptions[V]
	out    *nearFarForm[V]
	marks  []uint64 // a bit for each entry
	others Rows[V]  // the far entries
}

func newNearFarBuilder[V sparse.Value](r Rows[V], o NearFarOptions[V]) (*nearFarBuilder[V], error) {
	if o.Window < 0 || o.Lone < 0 || o.Lone > mostLone || o.Block < 0 || o.Block > narrowSpan {
		return nil, sparse.Inputf("far", "lines of at most %d of %d entries, in blocks of %d rows: use at most %d entries and %d rows",
			o.Lone, o.Window, o.Block, mostLone, narrowSpan)
	}
	if r.Fixed {
		return nil, sparse.Inputf("format", "far entries are summed by themselves: sums of a fixed shape have csr, slices, sell, diagonals, blocks, panels, tiles and bins")
	}
	if o.Window == 0 {
		o.Window = loneWindow[V]()
	}
	if o.Lone == 0 {
		o.Lone = defaultLone
	}
	if o.Block == 0 {
		o.Block = defaultBlock
	}
	rows := len(r.Ptr) - 1
	return &nearFarBuilder[V]{heap: heap{mem: r.Mem}, r: r, o: o,
		out:    &nearFarForm[V]{rows: rows, cols: r.Cols, height: o.Block},
		others: Rows[V]{Cols: r.Cols, Mem: r.Mem}}, nil
}

// at is where the entries of row i begin.
func (b *nearFarBuilder[V]) at(i int) int64 { return b.r.Ptr[i] - b.r.Ptr[0] }

// mark marks the far entries, window by window, and counts those of each row.
func (b *nearFarBuilder[V]) mark() error {
	rows, nnz := b.out.rows, int64(len(b.r.Idx))
	if err := b.hold(int64(b.r.Cols>>lineShift[V]()) + nnz/8 + 8*int64(rows+2)); err != nil {
		return err
	}
	l := newLines[V](b.r.Cols, uint8(b.o.Lone))
	b.marks = make([]uint64, nnz/64+1)
	for first := 0; first < rows; {
		end := first + 1
		for end < rows && b.at(end+1)-b.at(first) <= int64(b.o.Window) {
			end++
		}
		idx := b.r.Idx[b.at(first):b.at(end)]
		if err := checkColumns(idx, b.r.Cols); err != nil {
			return err
		}
		l.count(idx)
		l.mark(idx, b.at(first), b.marks)
		l.forget(idx)
		first = end
	}
	b.others.Ptr = make([]int64, rows+1)
	word, before := int64(0), 0 // marks in the words before that one
	for row := range rows {
		end := b.at(row + 1)
		for ; word < end/64; word++ {
			before += bits.OnesCount64(b.marks[word])
		}
		b.others.Ptr[row+1] = int64(before + bits.OnesCount64(b.marks[word]&(1<<(end%64)-1)))
	}
	return nil
}

// keepFew makes all entries near where the far ones are too few for bins, which would have more
// runs than are worth it.
func (b *nearFarBuilder[V]) keepFew() {
	rows := b.out.rows
	_, tallest := binHeights[V]()
	runs := int64((rows+tallest-1)/tallest) * tilesAcross(b.r.Cols, simd.BinCols)
	if shortRuns(runs, b.others.Ptr[rows]) {
		clear(b.marks)
		clear(b.others.Ptr)
	}
}

// near parts the entries and makes the slices.
func (b *nearFarBuilder[V]) near() error {
	f := b.out
	n, entry := b.others.Ptr[f.rows], 4+mem.Size[V]()
	f.far = float64(n) / float64(max(len(b.r.Idx), 1))
	var most int64
	for first := 0; first < f.rows; first += f.height {
		most = max(most, b.at(min(first+f.height, f.rows))-b.at(first))
	}
	if err := b.hold((n + most + 2) * entry); err != nil {
		return err
	}
	// One more place each: every entry is written to both.
	b.others.Idx, b.others.Val = make([]int32, n+1), make([]V, n+1)
	idx, val, ptr := make([]int32, most+1), make([]V, most+1), make([]int64, min(f.height, f.rows)+1)
	for first := 0; first < f.rows; first += f.height {
		end := min(first+f.height, f.rows)
		ptr := ptr[:end-first+1]
		b.part(first, end, ptr, idx, val)
		near := ptr[end-first]
		s, err := NewSlices(Rows[V]{Ptr: ptr, Idx: idx[:near], Val: val[:near], Cols: b.r.Cols, Mem: b.r.Mem},
			SliceOptions[V]{Level: b.o.Level, Values: b.o.Values})
		if err != nil {
			return err
		}
		f.blocks = append(f.blocks, s.(*slicesForm[V]))
	}
	b.others.Idx, b.others.Val = b.others.Idx[:n], b.others.Val[:n]
	return nil
}

// part copies the entries of some rows: the near ones to ptr, idx and val, the others to
// their places. Which they are cannot be foreseen, so that to copy is faster than to branch.
func (b *nearFarBuilder[V]) part(first, end int, ptr []int64, idx []int32, val []V) {
	near, far := 0, int(b.others.Ptr[first])
	farIdx, farVal := b.others.Idx, b.others.Val
	for k, to := b.at(first), b.at(end); k < to; {
		n := min(64-k%64, to-k)
		word, fromIdx, fromVal := b.marks[k/64]>>(k%64), b.r.Idx[k:k+n], b.r.Val[k:k+n]
		for i, c := range fromIdx {
			v := fromVal[i]
			idx[near], val[near] = c, v
			farIdx[far], farVal[far] = c, v
			one := int(word & 1)
			far += one
			near += 1 - one
			word >>= 1
		}
		k += n
	}
	for i := range ptr {
		row := first + i
		ptr[i] = b.at(row) - b.at(first) - (b.others.Ptr[row] - b.others.Ptr[first])
	}
}

// binHeights is the least and the most rows of a block of bins.
func binHeights[V sparse.Value]() (least, most int) {
	least = min(fit[V](cpuid.CPU.Cache.L1D, firstCache), simd.BinRows/tallBins)
	return least, tallBins * least
}

// finish makes the bins, of no rows where there are no far entries.
func (b *nearFarBuilder[V]) finish() (Form[V], error) {
	f := b.out
	o := BinOptions[V]{Level: b.o.Level, Values: b.o.Values}
	if n := int64(len(b.others.Idx)); n > 0 {
		least, most := binHeights[V]()
		height := int64(f.rows) * tilesAcross(f.cols, simd.BinCols) * minRun / n
		o.Rows = int(min(max(height, int64(least)), int64(most)))
	} else {
		b.others.Ptr = b.others.Ptr[:1]
	}
	bins, err := NewBins(b.others, o)
	if err != nil {
		return nil, err
	}
	f.bins = bins.(*binsForm[V])
	f.share()
	return f, nil
}
