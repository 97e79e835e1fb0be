package cpu

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// majorProductMany runs kernels.MajorProductMany.
func majorProductMany[V sparse.Value](d *Device, op *kernels.MajorProductMany[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCompressed(v, op.A)
	x, y, carry := viewBlocks(v, a.part, 0, op.X, op.Y, op.Carry)
	if v.err != nil {
		return v.err
	}
	parts, err := a.split(d)
	if err != nil {
		return err
	}
	var rows *manyRows[V]
	err = d.pool.run(1, func(int) { rows = newManyRows(a, parts, x.Rows()) }) // a wrong pointer panics in the worker, which reports it
	if err != nil {
		return err
	}
	return rows.multiply(d, op.Alpha, op.Beta, x, y, carry)
}

// joinCarries adds the carries of a worker's part q to the row of p that another worker owns. Where an earlier part
// owns the row, it adds them to the carries of p.
func joinCarries[V sparse.Value](carries []V, q, p partition.Part, y form.MultiVector[V], carry []V) {
	to := carry
	if q.StartFlag && q.StartMajor >= p.OwnFirst {
		to = y.From(q.StartMajor - p.OwnFirst).Val
	}
	for j, c := range carries {
		to[j] += c
	}
}

// viewBlocks opens the multi-vectors and carries of a product with a part. x must have at least minors rows.
func viewBlocks[V sparse.Value](v *views, p partition.Part, minors int, xs, ys kernels.MultiVector[V], carries kernels.Array[V]) (x, y form.MultiVector[V], carry []V) {
	x = viewBlock(v, "x", xs, minors)
	y = viewBlock(v, "y", ys, p.OwnEnd-p.OwnFirst)
	if v.err == nil && xs.Cols != ys.Cols {
		v.err = fmt.Errorf("%w: x has %d columns and y has %d", kernels.ErrArgument, xs.Cols, ys.Cols)
	}
	if p.StartFlag {
		carry = view(v, "carry", carries, int64(ys.Cols))
	}
	return x, y, carry
}

// viewBlock opens a multi-vector that must have at least that many rows.
func viewBlock[V sparse.Value](v *views, name string, b kernels.MultiVector[V], rows int) form.MultiVector[V] {
	if v.err == nil && (b.Cols < 1 || b.Stride < b.Cols || b.Stride > math.MaxInt32) {
		v.err = fmt.Errorf("%w: %s has %d columns at a stride of %d: it needs 1 or more, and a stride of at least as many", kernels.ErrArgument, name, b.Cols, b.Stride)
	}
	out := form.MultiVector[V]{Val: view(v, name, b.Val, b.Val.Len), Cols: b.Cols, Stride: b.Stride}
	if v.err == nil && out.Rows() < rows {
		v.err = fmt.Errorf("%w: %s has %d elements: %d rows at a stride of %d need more", kernels.ErrArgument, name, b.Val.Len, rows, b.Stride)
	}
	return out
}
