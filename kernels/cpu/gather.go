package cpu

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// gather runs kernels.Gather.
func gather[V sparse.Value](d *Device, op *kernels.Gather[V]) (err error) {
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
	return runGather(d, a.part, parts, y, carry, func(q partition.Part, own []V) V {
		return a.gatherRows(q, op.Alpha, op.Beta, x, own)
	})
}

// gatherRows writes the rows that q owns to y and gives its carry.
func (a compressed[V]) gatherRows(q partition.Part, alpha, beta V, x, y []V) (carry V) {
	base, end := a.part.StartIdx, q.EndIdx+1
	k := q.StartIdx
	if q.StartFlag {
		e := min(a.ptr[q.StartMajor+1], end)
		carry = alpha * dot(a.idx[k-base:e-base], a.val[k-base:e-base], x)
		k = e
	}
	ends := a.ptr[q.OwnFirst+1 : q.OwnEnd+1]
	for r, e := range ends {
		e = min(e, end)
		sum := alpha * dot(a.idx[k-base:e-base], a.val[k-base:e-base], x)
		if beta != 0 {
			sum += beta * y[r]
		}
		y[r], k = sum, e
	}
	return carry
}

// dot is the sum of val[k]*x[idx[k]], in two interleaved sums.
func dot[V sparse.Value](idx []int32, val []V, x []V) V {
	val = val[:len(idx)]
	var s0, s1 V
	k := 0
	for ; k+1 < len(idx); k += 2 {
		s0 += val[k] * x[idx[k]]
		s1 += val[k+1] * x[idx[k+1]]
	}
	if k < len(idx) {
		s0 += val[k] * x[idx[k]]
	}
	return s0 + s1
}

// runGather calls rows for the piece of each worker and joins the pieces: what a
// worker carries goes to the row's owner, which may be an earlier part's.
func runGather[V sparse.Value](d *Device, p partition.Part, parts []partition.Part, y, carry []V, rows func(q partition.Part, y []V) V) error {
	if len(parts) == 1 {
		return d.pool.run(1, func(int) {
			if c := rows(p, y); p.StartFlag {
				carry[0] = c
			}
		})
	}
	carries := make([]V, len(parts))
	err := d.pool.run(len(parts), func(i int) {
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
