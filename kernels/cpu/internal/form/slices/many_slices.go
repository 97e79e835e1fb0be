package slices

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// MultiplySlicesMany multiplies n slices from position at on by x.Cols vectors at once, the columns
// of x and y: with row = order[s*Lanes + lane],
//
//	y[row][j] = alpha * sum over the entries k of lane of slice s of val[k]*x[idx[k]][j] + beta*y[row][j]
//
// Lanes after the end of order have no row; rows of order after the slices have no entries. beta =
// 0 does not read y. stream, which requires beta = 0 and y.Streams, writes y past the caches: Fence
// must follow. The slices must have the Lanes of the level, unless it is Generic. Indices and rows
// are not checked.
func MultiplySlicesMany[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, n int, alpha, beta V, x form.MultiVector[V], order []uint16, y form.MultiVector[V], stream bool, e *form.Expansion[V]) {
	lanes := s.Values.Lanes
	n = min(n, (len(order)+lanes-1)/lanes)
	if n*lanes < len(order) {
		s.scaleRows(l, beta, order[n*lanes:], y, stream)
	}
	s.multiplyMany(l, at, n, alpha, beta, x, order, false, y, stream, e)
}

// AddSlicesMany adds all lanes of a slice to one row of y, for len(rows) slices from position at
// on:
//
//	y[rows[s]][j] += alpha * sum over the entries k of slice s of val[k]*x[idx[k]][j]
//
// There are at most AddedAtOnce slices. Level, indices and e are those of MultiplySlicesMany.
func AddSlicesMany[V sparse.Value](l simd.Level, s *Slices[V], at form.Position, alpha V, x form.MultiVector[V], rows []uint16, y form.MultiVector[V], e *form.Expansion[V]) {
	var order [AddedAtOnce * 16]uint16
	lanes := s.Values.Lanes
	for i := range order[:len(rows)*lanes] {
		order[i] = rows[i/lanes]
	}
	s.multiplyMany(l, at, len(rows), alpha, 1, x, order[:len(rows)*lanes], true, y, false, e)
}

// AddedAtOnce is the greatest number of slices of AddSlicesMany.
const AddedAtOnce = 32

// multiplyMany is MultiplySlicesMany for slices with rows, or AddSlicesMany if one is true.
func (s *Slices[V]) multiplyMany(l simd.Level, at form.Position, n int, alpha, beta V, x form.MultiVector[V], order []uint16, one bool, y form.MultiVector[V], stream bool, e *form.Expansion[V]) {
	lanes := s.Values.Lanes
	full := s.Values.Storage == form.Full
	for n > 0 {
		count, end := n, at
		if !full || y.Panels(l) > 1 {
			count, end = s.fewColumns(at, n)
		}
		shape := form.ManyShape[V]{
			N: count, Widths: s.Widths[2*at.Slice : 2*(at.Slice+count)], Masks: s.Masks[at.Mask:], Lanes: lanes, Order: order, Near: s.Near, One: one, Args: &s.many,
		}
		if full {
			shape.Val = s.Values.Full[at.Column*lanes:]
		} else {
			shape.Val = e.Full(l, &s.Values, at.Column, end.Column-at.Column, 0)
		}
		if s.Narrow != nil {
			shape.Narrow = s.Narrow[at.Column*lanes:]
		} else {
			shape.Wide = s.Wide[at.Column*lanes:]
		}
		shape.Multiply(l, alpha, beta, x, y, stream)
		order = order[min(count*lanes, len(order)):]
		at, n = end, n-count
	}
}

// scaleRows computes y[row] = beta*y[row] for the rows of order, as slices without columns.
func (s *Slices[V]) scaleRows(l simd.Level, beta V, order []uint16, y form.MultiVector[V], stream bool) {
	lanes := s.Values.Lanes
	for len(order) > 0 {
		n := min(len(noColumns)/2*lanes, len(order))
		empty := form.ManyShape[V]{N: (n + lanes - 1) / lanes, Widths: noColumns[:], Lanes: lanes, Order: order[:n], Args: &s.many}
		empty.Multiply(l, 0, beta, y, y, stream)
		order = order[n:]
	}
}

// noColumns is the widths of slices without columns.
var noColumns [256]uint32

// fewColumns returns how many of n slices from position at on have at most expandedColumns columns
// in all, at least 1, and the position after them.
func (s *Slices[V]) fewColumns(at form.Position, n int) (count int, end form.Position) {
	for end = at; count < n; count++ {
		full, masked := int(s.Widths[2*end.Slice]), int(s.Widths[2*end.Slice+1])
		next := form.Position{Slice: end.Slice + 1, Column: end.Column + full + masked, Mask: end.Mask + masked}
		if count > 0 && next.Column-at.Column > form.ExpandedColumns {
			break
		}
		end = next
	}
	return count, end
}
