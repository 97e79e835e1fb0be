package cpu

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// majorProductCOO runs kernels.MajorProductCOO.
func majorProductCOO[V sparse.Value](d *Device, op *kernels.MajorProductCOO[V]) (err error) {
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
	return runMajor(d, a.part, parts, y, carry, func(q partition.Part, own []V) V {
		return a.majorRuns(q, op.Alpha, op.Beta, x, own)
	})
}

// majorRuns writes the rows that q owns to y and returns its carry. The products of a run of equal rows are added to
// one sum, a chunk of entries at a time.
func (a coordinate[V]) majorRuns(q partition.Part, alpha, beta V, x, y []V) (carry V) {
	const block = 256
	var ptr [block + 1]int64
	var sum [block]V
	level := simd.Default()
	merge.Scale(y, beta)
	for k, end := q.StartIdx, q.EndIdx+1; k < end; {
		n := 0
		for ptr[0] = k; n < block && k < end; n++ {
			for r := a.major[k]; k < end && a.major[k] == r; {
				k++
			}
			ptr[n+1] = k
		}
		csr.Rows(level, alpha, 0, ptr[:n+1], a.minor[ptr[0]:k], a.val[ptr[0]:k], x, sum[:n])
		for i, s := range sum[:n] {
			if r := int(a.major[ptr[i]]); r < q.OwnFirst {
				carry = s
			} else {
				y[r-q.OwnFirst] += s
			}
		}
	}
	return carry
}

// minorProductCOO runs kernels.MinorProductCOO.
func minorProductCOO[V sparse.Value](d *Device, s *scratch[V], op *kernels.MinorProductCOO[V]) (err error) {
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
	return runMinor(d, s, d.pool.run, ownStretches(parts, a.minor, 0, len(y)), op.Beta, y, func(i int, to *target[V]) {
		q := parts[i]
		for k := q.StartIdx; k <= q.EndIdx; {
			stop := min(k+scatterRun, q.EndIdx+1)
			y, first, _ := to.of(a.minor[k:stop])
			for ; k < stop; k++ {
				v := op.Alpha * (a.val[k] * x[a.major[k]])
				if at := int(a.minor[k]) - first; uint(at) < uint(len(y)) {
					y[at] += v
				} else {
					to.miss(a.minor[k], v)
				}
			}
		}
	})
}
