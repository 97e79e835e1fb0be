package form

import (
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// NewCSR is the rows as they are, in place: nothing is built and nothing copied. A
// column outside x makes Multiply panic, as a slice would.
func NewCSR[V sparse.Value](r Rows[V]) Form[V] { return &csr[V]{r, simd.Default()} }

type csr[V sparse.Value] struct {
	rows  Rows[V]
	level simd.Level
}

func (c *csr[V]) Multiply(alpha, beta V, x, y []V) {
	simd.Rows(c.level, alpha, beta, c.rows.Ptr, c.rows.Idx, c.rows.Val, x[:c.rows.Cols], y[:len(c.rows.Ptr)-1])
}

func (c *csr[V]) Bytes() int64 { return 0 }

func (c *csr[V]) Padding() int64 { return 0 }

func (c *csr[V]) Name() string { return "csr" }
