package rows

import (
	"sort"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/scatter"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// MinorProduct runs kernels.MinorProduct.
func MinorProduct[V sparse.Value](s *memory.Scratch[V], op *kernels.MinorProduct[V]) (err error) {
	v := memory.NewViews(s.Mem)
	defer v.Close(&err)
	run := func(n int, f func(i int)) error { return s.Mem.Pool.RunPart(op.A.Part, n, f) }
	return multiplyMinor(v, s, run, viewCompressed(v, op.A), int64(op.A.Part.Majors()), op.Alpha, op.Beta, op.X, op.Y)
}

// multiplyMinor adds the products of all entries to y. x must have as many elements as majors says.
func multiplyMinor[V sparse.Value, A stored[V]](v *memory.Views, s *memory.Scratch[V], run workers.Runner, a A, majors int64, alpha, beta V, xs, ys kernels.Array[V]) error {
	x, y := memory.View(v, "x", xs, majors), memory.View(v, "y", ys, ys.Len)
	if v.Err != nil {
		return v.Err
	}
	parts, err := a.Split(v.Mem.Pool)
	if err != nil {
		return err
	}
	minors, base := a.Columns()
	return scatter.Run(s, run, scatter.Stretches(parts, minors, base, len(y)), beta, y, func(i int, to *scatter.Target[V]) {
		a.MinorRows(parts[i], alpha, x, to)
	})
}

func (a compressed[V]) MinorRows(q partition.Part, alpha V, x []V, to *scatter.Target[V]) {
	base, end := a.part.StartIdx, q.EndIdx+1
	level := simd.Default()
	r := q.First()
	for k := q.StartIdx; k < end; {
		stop := min(k+scatter.RunLength, end)
		y, first, far := to.Of(a.idx[k-base : stop-base])
		last := r + sort.Search(q.OwnEnd-r, func(i int) bool { return a.ptr[r+i] > stop }) - 1 // whole rows end here
		for k < stop {
			for a.ptr[r+1] <= k {
				r++
			}
			// Whole rows, or the rest of one row up to stop.
			rows, e := 1, min(a.ptr[r+1], stop)
			ptr := []int64{k, e}
			if a.ptr[r] >= k && last > r {
				rows, e = last-r, a.ptr[last]
				ptr = a.ptr[r : last+1]
			}
			done := csr.RowsTransposed(level, alpha, ptr, a.idx[k-base:e-base], a.val[k-base:e-base], x[r:r+rows], y, first, far)
			k += int64(done)
			if k < e {
				for a.ptr[r+1] <= k {
					r++
				}
				to.Miss(a.idx[k-base], alpha*(a.val[k-base]*x[r]))
				k++
			}
			if to.TooManyMissed() {
				stop = k
			}
		}
	}
}
