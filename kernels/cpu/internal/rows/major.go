package rows

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// MajorProduct runs kernels.MajorProduct.
func MajorProduct[V sparse.Value](d *memory.Memory, op *kernels.MajorProduct[V]) (err error) {
	v := memory.NewViews(d)
	defer v.Close(&err)
	return multiplyMajor(v, viewCompressed(v, op.A), op.A.Part, op.Alpha, op.Beta, op.X, op.Y, op.Carry)
}

// stored is entries of a part, cut among the workers.
type stored[V sparse.Value] interface {
	Split(pool *workers.Pool) ([]partition.Part, error)
	// MajorRows writes the rows that q owns to y and returns its carry.
	MajorRows(q partition.Part, alpha, beta V, x, y []V) (carry V)
	// MinorRows adds the products of q to its target.
	MinorRows(q partition.Part, alpha V, x []V, to *scatter.Target[V])
	// Columns returns the minor of each entry, and the number of the first entry.
	Columns() (minors []int32, base int64)
}

// multiplyMajor computes the rows that part p owns, and its carry.
func multiplyMajor[V sparse.Value, A stored[V]](v *memory.Views, a A, p partition.Part, alpha, beta V, xs, ys, carries kernels.Array[V]) error {
	x := memory.View(v, "x", xs, xs.Len)
	y := memory.View(v, "y", ys, int64(p.OwnEnd-p.OwnFirst))
	carry := ViewCarry(v, p, carries)
	if v.Err != nil {
		return v.Err
	}
	parts, err := a.Split(v.Mem.Pool)
	if err != nil {
		return err
	}
	return runMajor(v.Mem.Pool, p, parts, y, carry, func(q partition.Part, own []V) V {
		return a.MajorRows(q, alpha, beta, x, own)
	})
}

func (a compressed[V]) MajorRows(q partition.Part, alpha, beta V, x, y []V) (carry V) {
	rows := CutRows(q, a.part.StartIdx, a.ptr, a.idx, a.val, len(x))
	if rows.Head.Ptr != nil {
		var sum [1]V
		multiplyRows(rows.Head, alpha, 0, x, sum[:])
		carry = sum[0]
	}
	whole := len(rows.Body.Ptr) - 1
	multiplyRows(rows.Body, alpha, beta, x, y[:whole])
	if rows.Tail.Ptr != nil {
		multiplyRows(rows.Tail, alpha, beta, x, y[whole:])
	}
	return carry
}

func multiplyRows[V sparse.Value](r form.Rows[V], alpha, beta V, x, y []V) {
	csr.Rows(simd.Default(), alpha, beta, r.Ptr, r.Idx, r.Val, x, y)
}

// runMajor calls rows for the piece of each worker and joins the pieces: the carry of a worker is added to its row,
// or to the carry of the part where an earlier part owns the row.
func runMajor[V sparse.Value](pool *workers.Pool, p partition.Part, parts []partition.Part, y, carry []V, rows func(q partition.Part, y []V) V) error {
	if len(parts) == 1 {
		return pool.Run(1, func(int) {
			if c := rows(p, y); p.StartFlag {
				carry[0] = c
			}
		})
	}
	carries := make([]V, len(parts))
	err := pool.RunPart(p, len(parts), func(i int) {
		q := parts[i]
		carries[i] = rows(q, y[q.OwnFirst-p.OwnFirst:q.OwnEnd-p.OwnFirst])
	})
	if err != nil {
		return err
	}
	if p.StartFlag {
		carry[0] = 0
	}
	for i := range parts {
		JoinCarry(carries[i], &parts[i], &p, y, carry)
	}
	return nil
}

// JoinCarry adds the carry of a worker's part q to its row of p, or to the carry of p where an earlier part owns the
// row.
func JoinCarry[V sparse.Value](c V, q, p *partition.Part, y, carry []V) {
	switch {
	case !q.StartFlag:
	case q.StartMajor < p.OwnFirst:
		carry[0] += c
	default:
		y[q.StartMajor-p.OwnFirst] += c
	}
}

// ViewCarry returns the carry of a part as a slice: one element if the part begins within a row, none otherwise.
func ViewCarry[V sparse.Value](v *memory.Views, p partition.Part, a kernels.Array[V]) []V {
	if !p.StartFlag {
		return nil
	}
	return memory.View(v, "carry", a, 1)
}
