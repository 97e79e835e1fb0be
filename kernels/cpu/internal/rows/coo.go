package rows

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// MajorProductCOO runs kernels.MajorProductCOO.
func MajorProductCOO[V sparse.Value](d *memory.Memory, op *kernels.MajorProductCOO[V]) (err error) {
	v := memory.NewViews(d)
	defer v.Close(&err)
	return multiplyMajor(v, viewCoordinate(v, op.A), op.A.Part, op.Alpha, op.Beta, op.X, op.Y, op.Carry)
}

// MajorRows is that of stored. The products of a run of equal rows are added to
// one sum, a chunk of entries at a time.
func (a coordinate[V]) MajorRows(q partition.Part, alpha, beta V, x, y []V) (carry V) {
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

// MinorProductCOO runs kernels.MinorProductCOO.
func MinorProductCOO[V sparse.Value](s *memory.Scratch[V], op *kernels.MinorProductCOO[V]) (err error) {
	v := memory.NewViews(s.Mem)
	defer v.Close(&err)
	return multiplyMinor(v, s, s.Mem.Pool.Run, viewCoordinate(v, op.A), op.X.Len, op.Alpha, op.Beta, op.X, op.Y)
}

func (a coordinate[V]) MinorRows(q partition.Part, alpha V, x []V, to *scatter.Target[V]) {
	for k := q.StartIdx; k <= q.EndIdx; {
		stop := min(k+scatter.RunLength, q.EndIdx+1)
		y, first, _ := to.Of(a.minor[k:stop])
		for ; k < stop; k++ {
			v := alpha * (a.val[k] * x[a.major[k]])
			if at := int(a.minor[k]) - first; uint(at) < uint(len(y)) {
				y[at] += v
			} else {
				to.Miss(a.minor[k], v)
			}
		}
	}
}
