// The layout of symmetric diagonals, with 4 lanes (AVX2, float64), one window:
//
//	     0 1 2 3 4 5 6 7
//	  0  a b . c . . . .     Only the entries on and before the diagonal are stored:
//	  1  b d e . f . . .
//	  2  . e g h . i . .     slice 0: rows 0 to 3        slice 1: rows 4 to 7
//	  3  c . h j k . l .
//	  4  . f . k m n . o     offset -3   - - - c          f i l o
//	  5  . . i . n p q .     offset -1   - b e h          k n q s
//	  6  . . . l . q r s     offset  0   a d g j          m p r t
//	  7  . . . . o . s t
//
//	Offsets  -3 -1 0                                   from the diagonal of the matrix
//	Runs     {Slices 1, Pattern 0, Width 3, Masked, Ends}
//	         {Slices 1, Pattern 0, Width 3}
//	Masks    1000 1110 1111                            of the masked run: one bit per lane, lane 0 last
//	Values   - - - c  - b e h  a d g j  |  f i l o  k n q s  m p r t
//
//	| separates the slices; it is not stored. - is padding.

package diagonals

import (
	"fmt"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// symmetricWindow is the number of rows that are built together.
const symmetricWindow = 1 << 10

// SymmetricRows is the granularity of Symmetric: its first row must be a multiple of SymmetricRows.
const SymmetricRows = 64

// Symmetric stores rows of a symmetric matrix as diagonals. It stores only the entries on the main
// diagonal and before it.
type Symmetric[V sparse.Value] struct {
	form.Footprint
	level    simd.Level
	first    int // row of the matrix
	windows  []*diagonalForm[V]
	carries  []V
	low, top int // range of y to which Multiply adds if it adds before its rows
	patterns int // largest number of patterns of a window
}

// NewSymmetric builds rows of a square, symmetric matrix; first is the first of them, a multiple of
// SymmetricRows. It reads only the entries on the diagonal and before it: the caller ensures that
// the others are equal to these. Values are stored as Full. NewSymmetric fails like NewDiagonals.
func NewSymmetric[V sparse.Value](r form.Rows[V], first int, l simd.Level) (*Symmetric[V], error) {
	s := &Symmetric[V]{level: l, first: first, low: first, top: first}
	rows, widest := len(r.Ptr)-1, 0
	lower := form.Rows[V]{Cols: r.Cols, Mem: r.Mem} // the rows of a window: they stay in the cache
	for row := 0; row < rows; row += symmetricWindow {
		end := min(row+symmetricWindow, rows)
		lower.Ptr, lower.Idx, lower.Val = append(lower.Ptr[:0], 0), lower.Idx[:0], lower.Val[:0]
		for i := row; i < end; i++ {
			idx, val := r.Entries(i, i+1)
			n := len(upTo(idx, first+i))
			lower.Idx, lower.Val = append(lower.Idx, idx[:n]...), append(lower.Val, val[:n]...)
			lower.Ptr = append(lower.Ptr, int64(len(lower.Idx)))
		}
		b := newDiagonalBuilder(lower, l, false)
		if err := b.plan(); err != nil {
			return nil, err
		}
		f, err := b.build(form.ValueSet[V]{})
		if err != nil {
			return nil, err
		}
		widest = max(widest, s.add(f.(*diagonalForm[V]), first+row))
	}
	s.carries = make([]V, widest*simd.Lanes[V](l))
	s.MemoryBytes += mem.Size[V]() * int64(len(s.carries))
	return s, nil
}

// upTo returns the leading columns of a row that are at most c.
func upTo(idx []int32, c int) []int32 {
	for j, i := range idx {
		if int(i) > c {
			return idx[:j]
		}
	}
	return idx
}

// add appends a window that begins with row, and returns the width of its widest run.
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
	s.MemoryBytes += d.MemoryBytes
	s.EmptySlots += d.EmptySlots
	s.patterns = max(s.patterns, d.patterns)
	return widest
}

// Multiply computes y for all rows, and adds the products of the transposed entries before the
// diagonal; see simd.MultiplySymmetric. y has one element per row. to returns a slice for the
// elements lo <= i < hi of a vector of the length of x. If lo is one of the rows, the slice may be
// part of y; otherwise lo and hi are within Reach.
func (s *Symmetric[V]) Multiply(alpha, beta V, x, y []V, to func(lo, hi int) []V) {
	for i, w := range s.windows {
		row := i * symmetricWindow
		MultiplySymmetric(s.level, &w.slices, alpha, beta, x, y[row:row+w.rows], s.first+row, to, s.carries)
	}
}

// Reach returns the range lo <= i < hi of elements that Multiply requests together with elements
// before its rows; lo = hi if there are none.
func (s *Symmetric[V]) Reach() (lo, hi int) { return s.low, s.top }

// Name returns the name of the form followed by its most important parameters.
func (s *Symmetric[V]) Name() string {
	return fmt.Sprintf("symmetric diagonals in up to %d patterns for %d rows", s.patterns, symmetricWindow)
}

// SuitsSymmetric reports whether Symmetric would halve the memory of f if the matrix is symmetric:
// f is diagonals with values stored as Full, and its level has a kernel.
func SuitsSymmetric[V sparse.Value](f form.Form[V]) bool {
	d, ok := f.(*diagonalForm[V])
	return ok && FastSymmetric(d.level) && d.slices.Values.Storage == form.Full
}

// MultiplyMany computes Multiply for the columns of x and y. Their number must be one that
// simd.SymmetricColumns returns. to returns the rows lo <= i < hi.
func (s *Symmetric[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V], to func(lo, hi int) form.MultiVector[V]) {
	for i, w := range s.windows {
		row := i * symmetricWindow
		form.ScaleRows(beta, y.From(row), w.rows)
		AddSymmetricMany(s.level, &w.slices, alpha, x, s.first+row, w.rows, to)
	}
}
