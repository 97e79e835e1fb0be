package cpu

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// majorProduct runs kernels.MajorProduct.
func majorProduct[V sparse.Value](d *Device, op *kernels.MajorProduct[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCompressed(v, op.A)
	x := view(v, "x", op.X, op.X.Len)
	y := view(v, "y", op.Y, int64(a.part.OwnEnd-a.part.OwnFirst))
	carry := viewCarry(v, a.part, op.Carry)
	if v.err != nil {
		return v.err
	}
	parts, err := a.split(d)
	if err != nil {
		return err
	}
	return runMajor(d, a.part, parts, y, carry, func(q partition.Part, own []V) V {
		return a.majorRows(q, op.Alpha, op.Beta, x, own)
	})
}

// majorRows writes the rows that q owns to y and returns its carry.
func (a compressed[V]) majorRows(q partition.Part, alpha, beta V, x, y []V) (carry V) {
	rows := cutRows(q, a.part.StartIdx, a.ptr, a.idx, a.val, len(x))
	if rows.head.Ptr != nil {
		var sum [1]V
		multiplyRows(rows.head, alpha, 0, x, sum[:])
		carry = sum[0]
	}
	whole := len(rows.body.Ptr) - 1
	multiplyRows(rows.body, alpha, beta, x, y[:whole])
	if rows.tail.Ptr != nil {
		multiplyRows(rows.tail, alpha, beta, x, y[whole:])
	}
	return carry
}

func multiplyRows[V sparse.Value](r form.Rows[V], alpha, beta V, x, y []V) {
	csr.Rows(simd.Default(), alpha, beta, r.Ptr, r.Idx, r.Val, x, y)
}

// runMajor calls rows for the piece of each worker and joins the pieces: the carry of a worker is added to its row,
// or to the carry of the part where an earlier part owns the row.
func runMajor[V sparse.Value](d *Device, p partition.Part, parts []partition.Part, y, carry []V, rows func(q partition.Part, y []V) V) error {
	if len(parts) == 1 {
		return d.pool.run(1, func(int) {
			if c := rows(p, y); p.StartFlag {
				carry[0] = c
			}
		})
	}
	carries := make([]V, len(parts))
	err := d.runPart(p, len(parts), func(i int) {
		q := parts[i]
		carries[i] = rows(q, y[q.OwnFirst-p.OwnFirst:q.OwnEnd-p.OwnFirst])
	})
	if err != nil {
		return err
	}
	if p.StartFlag {
		carry[0] = 0
	}
	for i, q := range parts {
		switch {
		case !q.StartFlag:
		case q.StartMajor < p.OwnFirst:
			carry[0] += carries[i]
		default:
			y[q.StartMajor-p.OwnFirst] += carries[i]
		}
	}
	return nil
}

func viewCarry[V sparse.Value](v *views, p partition.Part, a kernels.Array[V]) []V {
	if !p.StartFlag {
		return nil
	}
	return view(v, "carry", a, 1)
}
