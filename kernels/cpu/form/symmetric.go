package form

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// symmetricWindow is how many rows are built together.
const symmetricWindow = 1 << 10

// SymmetricRows is a number of which the first row of Symmetric must be a multiple.
const SymmetricRows = 64

// Symmetric is rows of a symmetric matrix, as diagonals, of which only the entries on the
// main diagonal and before it are stored.
type Symmetric[V sparse.Value] struct {
	footprint
	level    simd.Level
	first    int // row of the matrix
	windows  []*diagonalForm[V]
	carries  []V
	low, top int // that Multiply adds to beside its rows
	patterns int // of the window that has most
}

// NewSymmetric builds the rows of a square, symmetric matrix from row first on, a multiple
// of SymmetricRows. Of r it reads what is on the diagonal and before it; that what is
// behind is the same is for the caller to know. Values are stored as they are. It fails as
// NewDiagonals.
func NewSymmetric[V sparse.Value](r Rows[V], first int, l simd.Level) (*Symmetric[V], error) {
	s := &Symmetric[V]{level: l, first: first, low: first, top: first}
	rows, widest := len(r.Ptr)-1, 0
	lower := Rows[V]{Cols: r.Cols, Mem: r.Mem} // of a window: it stays in the cache
	for row := 0; row < rows; row += symmetricWindow {
		end := min(row+symmetricWindow, rows)
		lower.Ptr, lower.Idx, lower.Val = append(lower.Ptr[:0], 0), lower.Idx[:0], lower.Val[:0]
		for i := row; i < end; i++ {
			idx, val := r.entries(i, i+1)
			n := len(upTo(idx, first+i))
			lower.Idx, lower.Val = append(lower.Idx, idx[:n]...), append(lower.Val, val[:n]...)
			lower.Ptr = append(lower.Ptr, int64(len(lower.Idx)))
		}
		b := newDiagonalBuilder(lower, l, false)
		if err := b.plan(); err != nil {
			return nil, err
		}
		f, err := b.build(ValueSet[V]{})
		if err != nil {
			return nil, err
		}
		widest = max(widest, s.add(f.(*diagonalForm[V]), first+row))
	}
	s.carries = make([]V, widest*simd.Lanes[V](l))
	s.bytes += mem.Size[V]() * int64(len(s.carries))
	return s, nil
}

// upTo is the columns of a row that are at most c.
func upTo(idx []int32, c int) []int32 {
	for j, i := range idx {
		if int(i) > c {
			return idx[:j]
		}
	}
	return idx
}

// add adds a window that begins with a row, and gives the width of its widest run.
func (s *Symmetric[V]) add(d *diagonalForm[V], row int) (widest int) {
	for i := range d.slices.Offsets {
		d.slices.Offsets[i] -= int64(row)
	}
	low := row
	for _, run := range d.slices.Runs {
		if widest = max(widest, run.Width); run.Width > 0 {
			low = min(low, row+min(int(d.slices.Offsets[run.Pattern]), -d.slices.Values.Lanes))
		}
	}
	if low < s.first {
		s.low, s.top = min(s.low, max(low, 0)), row+d.rows
	}
	s.windows = append(s.windows, d)
	s.bytes += d.bytes
	s.padding += d.padding
	s.patterns = max(s.patterns, d.patterns)
	return widest
}

// Multiply computes y for all rows, and adds what the entries before the diagonal are for
// other rows; see simd.MultiplySymmetric. y has one element per row. to gives a place for
// the elements lo <= i < hi of a vector like x, which may be that of y where lo is one of
// the rows; where it is not, they are in Reach.
func (s *Symmetric[V]) Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V) {
	for i, w := range s.windows {
		row := i * symmetricWindow
		simd.MultiplySymmetric(s.level, &w.slices, alpha, beta, x, y[row:row+w.rows], s.first+row, to, s.carries)
	}
}

// Reach is the elements lo <= i < hi that Multiply asks for together with some before its
// rows; lo = hi where there are none.
func (s *Symmetric[V]) Reach() (lo, hi int) { return s.low, s.top }

// Name is the name of the form, with what matters of its parameters.
func (s *Symmetric[V]) Name() string {
	return fmt.Sprintf("symmetric diagonals in up to %d patterns for %d rows", s.patterns, symmetricWindow)
}

// SuitsSymmetric reports whether f is diagonals whose values take their full size, so
// that half of them can be saved where the matrix is symmetric.
func SuitsSymmetric[V sparse.Value](f Form[V]) bool {
	d, ok := f.(*diagonalForm[V])
	return ok && simd.FastSymmetric(d.level) && d.slices.Values.Storage == simd.Full
}
