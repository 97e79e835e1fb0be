package form

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// NewCSR is the rows as they are, in place: nothing is built and nothing copied. A
// column outside x makes Multiply panic, as a slice would.
func NewCSR[V sparse.Value](r Rows[V]) Form[V] { return newCSR(r, simd.Default()) }

func newCSR[V sparse.Value](r Rows[V], l simd.Level) *csr[V] {
	return &csr[V]{r, l, r.Fixed && r.longest() <= kernels.FixedChunk}
}

type csr[V sparse.Value] struct {
	rows  Rows[V]
	level simd.Level
	short bool // with rows.Fixed: no row has more than one chunk
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

// size is the number of rows.
func (c *csr[V]) size() int { return len(c.rows.Ptr) - 1 }
