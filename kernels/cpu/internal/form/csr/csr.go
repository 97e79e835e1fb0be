// The layout of csr: the arrays of the caller.
//
//	     0 1 2 3 4 5 6 7     Ptr  0 2 3 6 8 9
//	  0  a . . b . . . .
//	  1  . c . . . . . .     Idx  0 3 | 1 | 2 3 6 | 0 7 | 4
//	  2  . . d e . . f .     Val  a b | c | d e f | g h | i
//	  3  g . . . . . . h
//	  4  . . . . i . . .     | separates the rows; it is not stored

package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// NewCSR multiplies the rows in place: it builds and copies nothing. Multiply panics if a column is
// outside x.
func NewCSR[V sparse.Value](r form.Rows[V]) form.Form[V] { return NewCSRAt(r, simd.Default()) }

// NewCSRAt is NewCSR with the given instruction set.
func NewCSRAt[V sparse.Value](r form.Rows[V], l simd.Level) *CSR[V] {
	return &CSR[V]{r, l, r.Fixed && r.Longest() <= kernels.FixedChunk}
}

// CSR is the form that multiplies rows in place.
type CSR[V sparse.Value] struct {
	Rows  form.Rows[V]
	level simd.Level
	short bool // with rows.Fixed: no row has more than kernels.FixedChunk entries
}

func (c *CSR[V]) Multiply(alpha, beta V, x, y []V) {
	if c.Rows.Fixed {
		MultiplyFixed(c.level, c.Rows, c.short, alpha, beta, x[:c.Rows.Cols], y[:len(c.Rows.Ptr)-1])
		return
	}
	Rows(c.level, alpha, beta, c.Rows.Ptr, c.Rows.Idx, c.Rows.Val, x[:c.Rows.Cols], y[:len(c.Rows.Ptr)-1])
}

func (c *CSR[V]) Bytes() int64 { return 0 }

func (c *CSR[V]) Padding() int64 { return 0 }

// SlowTransposed implements SlowTransposed.
func (c *CSR[V]) SlowTransposed() {}

func (c *CSR[V]) Name() string { return "csr" }

// Size returns the number of rows.
func (c *CSR[V]) Size() int { return len(c.Rows.Ptr) - 1 }

func (c *CSR[V]) MultiplyMany(alpha, beta V, x, y form.MultiVector[V]) {
	RowsMany(c.level, alpha, beta, c.Rows.Ptr, c.Rows.Idx, c.Rows.Val, x.First(c.Rows.Cols), y)
}

// RowsFrom is 1: this form is the rows in CSR.
func (c *CSR[V]) RowsFrom() int { return 1 }

// runEntries is the largest number of entries that share one call of to, unless one row has more.
const runEntries = 1 << 15

func (c *CSR[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	ptr := c.Rows.Ptr
	for r, rows := 0, len(ptr)-1; r < rows; {
		end := r + 1
		for end < rows && ptr[end+1]-ptr[r] <= runEntries {
			end++
		}
		if lo, hi := ptr[r]-ptr[0], ptr[end]-ptr[0]; lo < hi {
			idx := c.Rows.Idx[lo:hi]
			first, last := form.MinMax(c.level, idx)
			RowsTransposed(c.level, alpha, ptr[r:end+1], idx, c.Rows.Val[lo:hi], x[r:end], to(int(first), int(last)+1), int(first), false)
		}
		r = end
	}
}
