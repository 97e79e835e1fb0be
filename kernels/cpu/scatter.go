package cpu

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// scatter runs kernels.Scatter.
func scatter[V sparse.Value](d *Device, s *scratch[V], op *kernels.Scatter[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCompressed(v, op.A)
	x := view(v, "x", op.X, int64(a.part.Majors()))
	y := view(v, "y", op.Y, op.Y.Len)
	if v.err != nil {
		return v.err
	}
	parts, err := a.split(d)
	if err != nil {
		return err
	}
	return runScatter(d, s, parts, op.Beta, y, func(q partition.Part, y []V) {
		a.scatterRows(q, op.Alpha, x, y)
	})
}

// scatterRows adds the products of q to y.
func (a compressed[V]) scatterRows(q partition.Part, alpha V, x, y []V) {
	base, end := a.part.StartIdx, q.EndIdx+1
	k := q.StartIdx
	for r := q.First(); r < q.OwnEnd && k < end; r++ {
		e := min(a.ptr[r+1], end)
		idx, val := a.idx[k-base:e-base], a.val[k-base:e-base]
		xr := alpha * x[r]
		for j, i := range idx {
			y[i] += val[j] * xr
		}
		k = e
	}
}

// runScatter calls add for the piece of each worker, each with a vector of its
// own that starts as zero, and sums them into y = beta*y + sum. A single worker
// adds to y itself.
func runScatter[V sparse.Value](d *Device, s *scratch[V], parts []partition.Part, beta V, y []V, add func(q partition.Part, y []V)) error {
	if len(parts) == 1 {
		return d.pool.run(1, func(int) {
			merge.Scale(y, beta)
			add(parts[0], y)
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	partial, err := s.vectors(d, len(parts), len(y))
	if err != nil {
		return err
	}
	err = d.pool.run(len(parts), func(i int) {
		clear(partial[i])
		add(parts[i], partial[i])
	})
	if err != nil {
		return err
	}
	if d.pool.placed {
		return SumOn(d, y, beta, partial)
	}
	return merge.Sum(y, beta, partial)
}
