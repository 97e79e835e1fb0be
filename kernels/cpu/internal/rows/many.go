package rows

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// MajorProductMany runs kernels.MajorProductMany.
func MajorProductMany[V sparse.Value](d *memory.Memory, op *kernels.MajorProductMany[V]) (err error) {
	v := memory.NewViews(d)
	defer v.Close(&err)
	a := viewCompressed(v, op.A)
	x, y, carry := ViewBlocks(v, a.part, 0, op.X, op.Y, op.Carry)
	if v.Err != nil {
		return v.Err
	}
	parts, err := a.Split(d.Pool)
	if err != nil {
		return err
	}
	var rows *Many[V]
	err = d.Pool.Run(1, func(int) { rows = NewMany(a, parts, x.Rows()) }) // a wrong pointer panics in the worker, which reports it
	if err != nil {
		return err
	}
	return rows.Multiply(d, op.Alpha, op.Beta, x, y, carry)
}

// JoinCarries adds the carries of a worker's part q to the row of p that another worker owns. Where an earlier part
// owns the row, it adds them to the carries of p.
func JoinCarries[V sparse.Value](carries []V, q, p partition.Part, y form.MultiVector[V], carry []V) {
	to := carry
	if q.StartFlag && q.StartMajor >= p.OwnFirst {
		to = y.From(q.StartMajor - p.OwnFirst).Val
	}
	for j, c := range carries {
		to[j] += c
	}
}

// ViewBlocks opens the multi-vectors and carries of a product with a part. x must have at least minors rows.
func ViewBlocks[V sparse.Value](v *memory.Views, p partition.Part, minors int, xs, ys kernels.MultiVector[V], carries kernels.Array[V]) (x, y form.MultiVector[V], carry []V) {
	x = viewBlock(v, "x", xs, minors)
	y = viewBlock(v, "y", ys, p.OwnEnd-p.OwnFirst)
	if v.Err == nil && xs.Cols != ys.Cols {
		v.Err = fmt.Errorf("%w: x has %d columns and y has %d", kernels.ErrArgument, xs.Cols, ys.Cols)
	}
	if p.StartFlag {
		carry = memory.View(v, "carry", carries, int64(ys.Cols))
	}
	return x, y, carry
}

// viewBlock opens a multi-vector that must have at least that many rows.
func viewBlock[V sparse.Value](v *memory.Views, name string, b kernels.MultiVector[V], rows int) form.MultiVector[V] {
	if v.Err == nil && (b.Cols < 1 || b.Stride < b.Cols || b.Stride > math.MaxInt32) {
		v.Err = fmt.Errorf("%w: %s has %d columns at a stride of %d: it needs 1 or more, and a stride of at least as many", kernels.ErrArgument, name, b.Cols, b.Stride)
	}
	out := form.MultiVector[V]{Val: memory.View(v, name, b.Val, b.Val.Len), Cols: b.Cols, Stride: b.Stride}
	if v.Err == nil && out.Rows() < rows {
		v.Err = fmt.Errorf("%w: %s has %d elements: %d rows at a stride of %d need more", kernels.ErrArgument, name, b.Val.Len, rows, b.Stride)
	}
	return out
}

// LineStride returns the stride at which each row of x begins at a cache line, or in the middle of one if half a line
// holds a row. Kernels load whole lines of shorter rows, too.
func LineStride[V sparse.Value](cols int) int {
	line := int(form.CacheLine / mem.Size[V]())
	if cols <= line/2 {
		return line / 2
	}
	return (cols + line - 1) / line * line
}
