// The layout of csr: the arrays of the caller.
//
//	     0 1 2 3 4 5 6 7     Ptr  0 2 3 6 8 9
//	  0  a . . b . . . .
//	  1  . c . . . . . .     Idx  0 3 | 1 | 2 3 6 | 0 7 | 4
//	  2  . . d e . . f .     Val  a b | c | d e f | g h | i
//	  3  g . . . . . . h
//	  4  . . . . i . . .     | separates the rows; it is not stored

package form

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// NewCSR multiplies the rows in place: it builds and copies nothing. Multiply panics if a column is
// outside x.
func NewCSR[V sparse.Value](r Rows[V]) Form[V] { return newCSR(r, simd.Default()) }

func newCSR[V sparse.Value](r Rows[V], l simd.Level) *csr[V] {
	return &csr[V]{r, l, r.Fixed && r.longest() <= kernels.FixedChunk}
}

type csr[V sparse.Value] struct {
	rows  Rows[V]
	level simd.Level
	short bool // with rows.Fixed: no row has more than kernels.FixedChunk entries
}

func (c *csr[V]) Multiply(alpha, beta V, x, y []V) {
	if c.rows.Fixed {
		MultiplyFixed(c.level, c.rows, c.short, alpha, beta, x[:c.rows.Cols], y[:len(c.rows.Ptr)-1])
		return
	}
	simd.Rows(c.level, alpha, beta, c.rows.Ptr, c.rows.Idx, c.rows.Val, x[:c.rows.Cols], y[:len(c.rows.Ptr)-1])
}

func (c *csr[V]) Bytes() int64 { return 0 }

func (c *csr[V]) Padding() int64 { return 0 }

func (c *csr[V]) Name() string { return "csr" }

// size returns the number of rows.
func (c *csr[V]) size() int { return len(c.rows.Ptr) - 1 }

func (c *csr[V]) MultiplyMany(alpha, beta V, x, y simd.MultiVector[V]) {
	simd.RowsMany(c.level, alpha, beta, c.rows.Ptr, c.rows.Idx, c.rows.Val, x.First(c.rows.Cols), y)
}

// RowsFrom is 1: this form is the rows in CSR.
func (c *csr[V]) RowsFrom() int { return 1 }

// runEntries is the largest number of entries that share one call of to, unless one row has more.
const runEntries = 1 << 15

func (c *csr[V]) MultiplyTransposed(alpha V, x []V, to func(lo, hi int) []V) {
	ptr := c.rows.Ptr
	for r, rows := 0, len(ptr)-1; r < rows; {
		end := r + 1
		for end < rows && ptr[end+1]-ptr[r] <= runEntries {
			end++
		}
		if lo, hi := ptr[r]-ptr[0], ptr[end]-ptr[0]; lo < hi {
			idx := c.rows.Idx[lo:hi]
			first, last := simd.MinMax(c.level, idx)
			simd.RowsTransposed(c.level, alpha, ptr[r:end+1], idx, c.rows.Val[lo:hi], x[r:end], to(int(first), int(last)+1), int(first), false)
		}
		r = end
	}
}
