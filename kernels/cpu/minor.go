package cpu

import (
	"errors"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// minorProduct runs kernels.MinorProduct.
func minorProduct[V sparse.Value](d *Device, s *scratch[V], op *kernels.MinorProduct[V]) (err error) {
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
	run := func(n int, f func(i int)) error { return d.runPart(a.part, n, f) }
	return runMinor(d, s, run, ownStretches(parts, a.idx, a.part.StartIdx, len(y)), op.Beta, y, func(i int, to *target[V]) {
		a.minorRows(parts[i], op.Alpha, x, to)
	})
}

// scatterRun is the number of entries that go to one vector. A few of their indices are read in advance, which costs
// as much as some hundred entries.
const scatterRun = 1 << 15

// minorRows adds the products of q to its target.
func (a compressed[V]) minorRows(q partition.Part, alpha V, x []V, to *target[V]) {
	base, end := a.part.StartIdx, q.EndIdx+1
	level := simd.Default()
	r := q.First()
	for k := q.StartIdx; k < end; {
		stop := min(k+scatterRun, end)
		y, first, far := to.of(a.idx[k-base : stop-base])
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
				to.miss(a.idx[k-base], alpha*(a.val[k-base]*x[r]))
				k++
			}
			if to.tooManyMissed() {
				stop = k
			}
		}
	}
}

// runMinor calls add for each worker and joins the results: y = beta*y + sum. Worker i owns the stretch of y
// between borders i and i+1. If there is no memory for the workers' own vectors, one worker adds everything.
func runMinor[V sparse.Value](d *Device, s *scratch[V], run runner, border []int, beta V, y []V, add func(i int, to *target[V])) error {
	n := len(border) - 1
	if n == 1 {
		return minorAlone(run, n, beta, y, add)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	spill, err := s.vectors(d, n, len(y))
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return minorAlone(run, n, beta, y, add)
	}
	if err != nil {
		return err
	}
	to := make([]target[V], n)
	for i := range to {
		to[i] = target[V]{y: y, beta: beta, first: border[i], done: border[i], end: border[i+1], spill: spill[i]}
	}
	left := func() (elements int) {
		for i := range to {
			elements += to[i].end - to[i].done + to[i].hi - to[i].lo
		}
		return elements
	}
	err = run.joined(n, func(i int) { add(i, &to[i]) }, left, func(i, end int) {
		join(to, par.Cut(int64(len(y)), n, i), par.Cut(int64(len(y)), n, end))
	})
	if err != nil {
		for _, v := range spill {
			clear(v)
		}
	}
	return err
}

// minorAlone makes one worker add the products of all n.
func minorAlone[V sparse.Value](run runner, n int, beta V, y []V, add func(i int, to *target[V])) error {
	return run(1, func(int) {
		to := target[V]{y: y, beta: beta, end: len(y)}
		for i := range n {
			add(i, &to)
		}
		merge.Scale(y[to.done:], beta)
	})
}
