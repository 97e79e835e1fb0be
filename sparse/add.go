package sparse

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
)

// Add returns C = alpha*A + beta*B for matrices of the same shape. C has an entry wherever
// A or B has one, even if its value, alpha or beta is 0. The columns of each row strictly
// ascend. C shares no array with a and b.
//
// Add merges the rows of A and B on several goroutines. If the columns of a matrix do not
// strictly ascend, Add first makes a sorted copy in which duplicates are added in their
// order. alpha*a_ij and beta*b_ij are rounded before they are added. So the bits of C depend
// neither on the number of goroutines nor on the processor.
//
// Invalid matrices, different shapes and a sum that does not fit into memory give a
// *InputError.
func Add[V Value](alpha V, a *CSR[V], beta V, b *CSR[V]) (*CSR[V], error) {
	if err := a.validateAs("A"); err != nil {
		return nil, err
	}
	if err := b.validateAs("B"); err != nil {
		return nil, err
	}
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return nil, Inputf("B", "%d x %d: A is %d x %d, and a sum needs equal shapes", b.Rows, b.Cols, a.Rows, a.Cols)
	}
	a, err := a.ascending("A")
	if err != nil {
		return nil, err
	}
	if b, err = b.ascending("B"); err != nil {
		return nil, err
	}
	c := &CSR[V]{Rows: a.Rows, Cols: a.Cols, RowPtr: make([]int64, a.Rows+1)}
	eachRow(both(a.RowPtr, b.RowPtr), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.RowPtr[i+1] = union(a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]], b.ColIdx[b.RowPtr[i]:b.RowPtr[i+1]])
		}
	})
	for i := range c.Rows {
		c.RowPtr[i+1] += c.RowPtr[i]
	}
	n := c.RowPtr[c.Rows]
	if err := fits[V]("B", "the sum", n); err != nil {
		return nil, err
	}
	c.ColIdx, c.Val = make([]int32, n), make([]V, n)
	eachRow(c.RowPtr, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.mergeRow(i, alpha, a, beta, b)
		}
	})
	return c, nil
}

// validateAs is Validate with the name of an argument in the error.
func (m *CSR[V]) validateAs(name string) error {
	err := m.Validate()
	if bad, ok := errors.AsType[*InputError](err); ok && bad.Subject == "matrix" {
		bad.Subject = name
	}
	return err
}

// fits returns an error about name if n entries do not fit into memory.
func fits[V Value](name, what string, n int64) error {
	need := saturate.Mul(4+mem.Size[V](), n)
	if have, ok := mem.Fits(need); !ok {
		return Inputf(name, "%s has %d entries: they take %d bytes, %d are available", what, n, need, have)
	}
	return nil
}

// ascending returns m, or, if the columns of a row do not ascend strictly, a copy with
// sorted rows in which duplicates are added.
func (m *CSR[V]) ascending(name string) (*CSR[V], error) {
	var found atomic.Bool
	eachRow(m.RowPtr, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := m.ColIdx[m.RowPtr[i]:m.RowPtr[i+1]]
			for k := 1; k < len(row); k++ {
				if row[k] <= row[k-1] {
					found.Store(true)
					return
				}
			}
		}
	})
	if !found.Load() {
		return m, nil
	}
	if err := fits[V](name, "its sorted copy", m.NNZ()); err != nil {
		return nil, err
	}
	c := &CSR[V]{Rows: m.Rows, Cols: m.Cols, RowPtr: slices.Clone(m.RowPtr), ColIdx: slices.Clone(m.ColIdx), Val: slices.Clone(m.Val)}
	if c.sortRows() {
		c.sumDuplicates()
	}
	return c, nil
}

// both returns the sums of the pointers of two matrices.
func both(a, b []int64) []int64 {
	ptr := make([]int64, len(a))
	for i := range ptr {
		ptr[i] = a[i] + b[i]
	}
	return ptr
}

// union returns the number of different columns in two rows whose columns ascend.
func union(a, b []int32) (n int64) {
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
		n++
	}
	return n + int64(len(a)+len(b))
}

// mergeRow writes row i of alpha*A + beta*B. Columns of A and B ascend.
func (m *CSR[V]) mergeRow(i int, alpha V, a *CSR[V], beta V, b *CSR[V]) {
	at, k, l := m.RowPtr[i], a.RowPtr[i], b.RowPtr[i]
	endA, endB := a.RowPtr[i+1], b.RowPtr[i+1]
	for ; k < endA || l < endB; at++ {
		switch {
		case l == endB || k < endA && a.ColIdx[k] < b.ColIdx[l]:
			m.ColIdx[at], m.Val[at] = a.ColIdx[k], alpha*a.Val[k]
			k++
		case k == endA || b.ColIdx[l] < a.ColIdx[k]:
			m.ColIdx[at], m.Val[at] = b.ColIdx[l], beta*b.Val[l]
			l++
		default:
			m.ColIdx[at], m.Val[at] = a.ColIdx[k], V(alpha*a.Val[k])+V(beta*b.Val[l]) // V rounds: no fused multiply-add
			k++
			l++
		}
	}
}
