// The layout of slices, with 4 lanes (AVX2, float64):
//
//	     0 1 2 3 4 5 6 7     rows by decreasing length: 2 0 3 1 4
//	  0  a . . b . . . .
//	  1  . c . . . . . .     slice 0   lane 0  lane 1  lane 2  lane 3
//	  2  . . d e . . f .               row 2   row 0   row 3   row 1
//	  3  g . . . . . . h     column 0    d       a       g       c     full
//	  4  . . . . i . . .     column 1    e       b       h       -     masked
//	                         column 2    f       -       -       -     masked
//	  -  padding, 0          slice 1   row 4
//	                         column 0    i       -       -       -     masked
//
//	Widths  1 2 | 0 1                                 full and masked columns of each slice
//	Masks   0111 0001 | 0001                          one bit per lane, lane 0 last
//	Narrow  2 0 0 1  3 3 7 0  6 0 0 0 | 4 0 0 0       columns minus the base of the window, 0
//	Values  d a g c  e b h -  f - - - | i - - -
//	order   1 3 0 2 4                                 the lane of each row
//	rowOf   2 0 3 1 4                                 the row of each lane
//
//	| separates the slices; it is not stored. Wide entries, whose columns do not fit in 16 bits, are
//	in slices of their own with 32-bit columns (Wide). Pieces of long rows are slices as well.

package slices

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// SliceOptions are the options of NewSlices.
type SliceOptions[V sparse.Value] struct {
	Level simd.Level
	// Window is the number of successive rows that are sorted by length, at most 65536. 1 leaves
	// the rows in their order; 0 is the default of 1024.
	Window int
	// Values is the storage of the values; see FindValues.
	Values form.ValueSet[V]
}

// defaultWindow keeps the sums of a window and the elements that it reads of a banded x in the
// first-level cache.
const defaultWindow = 1024

// NewSlices builds slices (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36, 2014): rows of
// about equal length side by side, one per lane of a register.
//
// A narrow entry has a column in 16 bits, relative to the base column of its window. A wide entry
// has a column in 32 bits. Narrow and wide entries of a window are in different slices. If x stays
// in the caches and it is faster, all entries of a window are wide: if rows have few, scattered
// entries, two kinds of slices have more padding than one. Long rows are divided into pieces, one
// slice each: rows far longer than the others, and rows that would leave other lanes of their slice
// empty. Lanes without an entry are masked out. Slices are ordered by decreasing length. If the
// first-level cache then keeps more of x, slices are ordered by strips of successive rows instead,
// and by decreasing length within a strip.
//
// With Rows.Fixed all entries of a row are in one lane, except that each chunk of
// kernels.FixedChunk entries counts as a row. NewSlices fails with a *sparse.InputError if a column
// is outside x and with an error that wraps kernels.ErrOutOfMemory.
func NewSlices[V sparse.Value](r form.Rows[V], o SliceOptions[V]) (form.Form[V], error) {
	b := newSliceBuilder(r, o)
	if err := b.measure(); err != nil {
		return nil, err
	}
	if err := b.fill(); err != nil {
		return nil, err
	}
	return b.out, nil
}

// slicesForm is the Form that NewSlices builds.
type slicesForm[V sparse.Value] struct {
	form.Footprint
	level   simd.Level
	rows    int // a chunk of a long row counts as a row
	cols    int
	sorted  int  // number of rows that were sorted together
	strip   int  // number of rows of a strip; 0 if slices are ordered by length alone
	size    int  // number of rows of a window
	fixed   bool // sums have the shape of kernels.MajorProductFixed
	narrow  Slices[V]
	wide    Slices[V]
	windows []window
	// order has, for each sorted window, the lane of each row; then, for each window that is not
	// joint, the row of each lane of its wide slices. rowOf has the row of each lane for both, for
	// products with several vectors.
	order, rowOf []uint16
	long         longRows[V]
	sums         []V // sums of the lanes of narrow slices
	wideSums     []V // sums of the lanes of wide slices
	rowSums      []V // sums of the rows of a window in their order
	results      form.Results[V]
}

// window is a number of successive rows.
type window struct {
	base        int32 // base column of the narrow entries
	sorted      bool  // order has the lane of each row
	joint       bool  // a row has the same lane in wide slices as in narrow ones
	storeDirect bool  // it is faster to store results slice by slice
	narrow      form.Group
	wide        form.Group
	listed      int32 // number of lanes in order of the wide slices, if not joint
	// The least and the greatest column of all entries except those of long rows.
	least, greatest int32
	// The columns that the next window reads and no earlier window has read.
	prefetchFrom, prefetchTo int32
}

func (s *slicesForm[V]) Multiply(alpha, beta V, x, y []V) {
	s.results.Begin(alpha, beta, y)
	s.multiply(x, &s.results)
	if s.results.Stream {
		form.Fence(s.level)
	}
	s.long.finish(alpha, y)
}

// multiply passes the sums of all rows to out. It leaves the sums of long rows to s.long.finish.
func (s *slicesForm[V]) multiply(x []V, out *form.Results[V]) {
	x = x[:s.cols]
	var narrow, wide form.Position
	order, long := s.order, s.long.pieces
	for i := range s.windows {
		w := &s.windows[i]
		rows := min(s.size, s.rows-i*s.size)
		if w.storeDirect && out.Direct() {
			at := len(s.order) - len(order)
			s.multiplyDirect(w, narrow, wide, s.rowOf[at:at+rows], x, out)
			order = order[rows:]
		} else {
			order = s.sum(w, narrow, wide, rows, order, x, out)
		}
		narrow, wide = w.narrow.After(narrow), w.wide.After(wide)
		for len(long) > 0 && long[0].after == i {
			n := s.sumPieces(long, x)
			for k := range long[:n] {
				long[k].pass(s.narrow.Values.Lanes, &narrow, &wide)
			}
			long = long[n:]
		}
	}
}

// sum passes the sums of window w to out and returns the rest of order.
func (s *slicesForm[V]) sum(w *window, narrow, wide form.Position, rows int, order []uint16, x []V, out *form.Results[V]) []uint16 {
	lanes := int(w.narrow.Slices) * s.narrow.Values.Lanes
	MultiplySlices(s.level, &s.narrow, narrow, int(w.narrow.Slices), x[w.base:], x[w.prefetchFrom:w.prefetchTo], s.sums)
	if lanes < rows {
		clear(s.sums[lanes:rows])
	}
	if w.joint {
		AddSlices(s.level, &s.wide, wide, int(w.wide.Slices), x, s.sums)
	}
	at := order[:0]
	if w.sorted {
		at, order = order[:rows], order[rows:]
	}
	if w.sorted && (w.wide.Slices == 0 || w.joint) {
		out.PutFrom(at, s.sums, s.rowSums)
		return order
	}
	row := s.sums[:rows]
	if w.sorted {
		row = s.rowSums[:rows]
		form.Permute(s.level, at, s.sums, row)
	}
	if w.wide.Slices > 0 && !w.joint {
		s.addWide(w, wide, order, x, row)
		order = order[w.listed:]
	}
	out.Put(row)
	return order
}

// addWide adds the sums of the wide slices of a window that is not joint; order has their rows.
func (s *slicesForm[V]) addWide(w *window, at form.Position, order []uint16, x, row []V) {
	MultiplySlices(s.level, &s.wide, at, int(w.wide.Slices), x, nil, s.wideSums)
	for lane, r := range order[:w.listed] {
		if s.fixed { // no row has narrow entries as well
			row[r] = s.wideSums[lane]
		} else {
			row[r] += s.wideSums[lane]
		}
	}
}

func (s *slicesForm[V]) Name() string {
	name := fmt.Sprintf("slices of %d", s.narrow.Values.Lanes)
	if s.sorted > 1 {
		name += fmt.Sprintf(" sorted in %d", s.sorted)
	}
	if s.strip > 0 {
		name += fmt.Sprintf(" by strips of %d", s.strip)
	}
	return form.WithStorage(name, s.narrow.Values.Storage)
}
