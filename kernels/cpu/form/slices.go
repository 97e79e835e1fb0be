package form

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// SliceOptions says how slices are made.
type SliceOptions[V sparse.Value] struct {
	Level simd.Level
	// Window is how many successive rows are sorted by length, at most 65536: 1
	// leaves them as they are, 0 is the default of 1024.
	Window int
	// Values is how values are stored; see FindValues.
	Values ValueSet[V]
	// Part says that these are some rows of a form that multiplies others before them again, so
	// that they are in no cache by then, however small.
	Part bool
}

// defaultWindow keeps the sums of a window and what it reads of a banded x in the
// first cache.
const defaultWindow = 1024

// beyond is replaced in tests.
var beyond = simd.Beyond

// NewSlices builds slices (SELL-C-sigma: Kreutzer et al., SIAM J. Sci. Comput. 36,
// 2014): rows of about equal length side by side, one per lane of a register.
//
// Columns are stored in 16 bits, counted from a column of the window, for entries
// near each other; the other entries of a window are in slices of their own, with
// 32 bits. All entries of a window are, where x stays in the caches and that takes
// less time: slices of both kinds are more and emptier where rows have few entries
// that lie anywhere. Rows far longer than the others, and those beside which lanes
// would be empty, are cut into pieces, one per lane. Lanes that have no entry are
// masked out. Slices follow each other by falling length, or so within strips of
// successive rows where the first cache then keeps more of x.
//
// With Rows.Fixed all entries of a row are in one lane, but for chunks of
// kernels.FixedChunk. It fails with a *sparse.InputError on a column outside x and
// with an error that wraps kernels.ErrOutOfMemory.
func NewSlices[V sparse.Value](r Rows[V], o SliceOptions[V]) (Form[V], error) {
	b := newSliceBuilder(r, o)
	if err := b.measure(); err != nil {
		return nil, err
	}
	if err := b.fill(); err != nil {
		return nil, err
	}
	return b.out, nil
}

// slicesForm is the Form of NewSlices.
type slicesForm[V sparse.Value] struct {
	footprint
	level   simd.Level
	rows    int // chunks of long rows are rows here
	cols    int
	sorted  int  // rows that were sorted together
	strip   int  // rows whose slices follow each other, 0 if by length alone
	size    int  // rows in a window
	fixed   bool // sums have the shape of kernels.MajorProductFixed
	narrow  simd.Slices[V]
	wide    simd.Slices[V]
	windows []window
	// order has, for each window that is sorted, the lane of each row; then, unless they are
	// joint, the row of each lane of its wide slices. rowOf has the row of each lane for both: for
	// several vectors.
	order, rowOf []uint16
	long         longRows[V]
	sums         []V // of narrow slices
	more         []V // of wide slices
	row          []V // of the rows of a window in their order
	results      results[V]
}

// window is successive rows.
type window struct {
	base   int32 // the column that narrow indices count from
	sorted bool  // order has the lanes of the rows
	joint  bool  // wide slices have their rows in the same lanes as narrow ones
	put    bool  // results are best stored slice by slice
	narrow group
	wide   group
	listed int32 // rows in order for wide slices that are not joint
	// The columns of all entries but those of long rows.
	least, greatest int32
	// The columns that the next window reads and none before it.
	aheadFrom, aheadTo int32
}

// group is successive slices.
type group struct{ slices, columns, masks int32 }

func (g group) after(at simd.Position) simd.Position {
	return simd.Position{Slice: at.Slice + int(g.slices), Column: at.Column + int(g.columns), Mask: at.Mask + int(g.masks)}
}

func (s *slicesForm[V]) Multiply(alpha, beta V, x, y []V) {
	s.results.begin(alpha, beta, y)
	s.multiply(x, &s.results)
	if s.results.stream {
		simd.Fence(s.level)
	}
	s.long.finish(alpha, y)
}

// multiply gives the sums of all rows to out, but for the pieces of long rows, which are left to
// s.long.finish.
func (s *slicesForm[V]) multiply(x []V, out *results[V]) {
	x = x[:s.cols]
	var narrow, wide simd.Position
	order, long := s.order, s.long.pieces
	for i := range s.windows {
		w := &s.windows[i]
		rows := min(s.size, s.rows-i*s.size)
		if w.put && out.direct() {
			at := len(s.order) - len(order)
			s.put(w, narrow, wide, s.rowOf[at:at+rows], x, out)
			order = order[rows:]
		} else {
			order = s.sum(w, narrow, wide, rows, order, x, out)
		}
		narrow, wide = w.narrow.after(narrow), w.wide.after(wide)
		for len(long) > 0 && long[0].after == i {
			n := s.sumPieces(long, x)
			for k := range long[:n] {
				long[k].pass(s.narrow.Values.Lanes, &narrow, &wide)
			}
			long = long[n:]
		}
	}
}

// sum gives the sums of a window to out, and what follows its part of order.
func (s *slicesForm[V]) sum(w *window, narrow, wide simd.Position, rows int, order []uint16, x []V, out *results[V]) []uint16 {
	lanes := int(w.narrow.slices) * s.narrow.Values.Lanes
	simd.MultiplySlices(s.level, &s.narrow, narrow, int(w.narrow.slices), x[w.base:], x[w.aheadFrom:w.aheadTo], s.sums)
	if lanes < rows {
		clear(s.sums[lanes:rows])
	}
	if w.joint {
		simd.AddSlices(s.level, &s.wide, wide, int(w.wide.slices), x, s.sums)
	}
	at := order[:0]
	if w.sorted {
		at, order = order[:rows], order[rows:]
	}
	if w.sorted && (w.wide.slices == 0 || w.joint) {
		out.putFrom(at, s.sums, s.row)
		return order
	}
	row := s.sums[:rows]
	if w.sorted {
		row = s.row[:rows]
		simd.Permute(s.level, at, s.sums, row)
	}
	if w.wide.slices > 0 && !w.joint {
		s.addWide(w, wide, order, x, row)
		order = order[w.listed:]
	}
	out.put(row)
	return order
}

// addWide adds the sums of wide slices that are not in the lanes of narrow ones: order has their rows.
func (s *slicesForm[V]) addWide(w *window, at simd.Position, order []uint16, x, row []V) {
	simd.MultiplySlices(s.level, &s.wide, at, int(w.wide.slices), x, nil, s.more)
	for lane, r := range order[:w.listed] {
		if s.fixed { // no row has narrow entries as well
			row[r] = s.more[lane]
		} else {
			row[r] += s.more[lane]
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
	return named(name, s.narrow.Values.Storage)
}
