package cpu

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// gatherCOO runs kernels.GatherCOO.
func gatherCOO[V sparse.Value](d *Device, op *kernels.GatherCOO[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCoordinate(v, op.A)
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
		return a.gatherRuns(q, op.Alpha, op.Beta, x, own)
	})
}

// gatherRuns writes the rows that q owns to y and gives its carry. Each run of
// equal rows is one sum.
func (a coordinate[V]) gatherRuns(q partition.Part, alpha, beta V, x, y []V) (carry V) {
	merge.Scale(y, beta)
	k, end := q.StartIdx, q.EndIdx+1
	for k < end {
		r := a.major[k]
		e := k + 1
		for e < end && a.major[e] == r {
			e++
		}
		sum := alpha * dot(a.minor[k:e], a.val[k:e], x)
		if int(r) < q.OwnFirst {
			carry = sum
		} else {
			y[int(r)-q.OwnFirst] += sum
		}
		k = e
	}
	return carry
}

// scatterCOO runs kernels.ScatterCOO.
func scatterCOO[V sparse.Value](d *Device, s *scratch[V], op *kernels.ScatterCOO[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCoordinate(v, op.A)
	x := view(v, "x", op.X, op.X.Len)
	y := view(v, "y", op.Y, op.Y.Len)
	if v.err != nil {
		return v.err
	}
	parts, err := a.split(d)
	if err != nil {
		return err
	}
	return runScatter(d, s, parts, op.Beta, y, func(q partition.Part, y []V) {
		for k := q.StartIdx; k <= q.EndIdx; k++ {
			y[a.minor[k]] += a.val[k] * (op.Alpha * x[a.major[k]])
		}
	})
}
