package matmul

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// hostRows computes consecutive rows of C = A B in host memory, with the workers of a CPU device.
type hostRows[V sparse.Value] struct {
	workers kernels.Workers
	a, b    *sparse.CSR[V] // these rows of A, and all of B
	pattern *spgemm.Pattern
}

func newHostRows[V sparse.Value](w kernels.Workers, a, b *sparse.CSR[V], lo, hi int) (h *hostRows[V], err error) {
	defer rescue.To(&err)
	at := a.RowPtr[lo]
	h = &hostRows[V]{workers: w, b: b, a: &sparse.CSR[V]{Rows: hi - lo, Cols: a.Cols, RowPtr: make([]int64, hi-lo+1),
		ColIdx: a.ColIdx[at:a.RowPtr[hi]], Val: a.Val[at:a.RowPtr[hi]]}}
	for r := range h.a.RowPtr {
		h.a.RowPtr[r] = a.RowPtr[lo+r] - at
	}
	h.pattern, err = spgemm.Symbolic(h.a, b, h.run)
	return h, err
}

// run calls f(i) for each i < n on the workers. It panics with the error of a worker.
func (h *hostRows[V]) run(n int, f func(i int)) {
	var next atomic.Int64
	err := h.workers.Run(min(n, h.workers.Info().Threads), func(int) {
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			f(i)
		}
	})
	if err != nil {
		panic(err)
	}
}

// update sets new values of the rows of A, and of B; nil keeps the values.
func (h *hostRows[V]) update(a, b []V) {
	if a != nil {
		m := *h.a
		m.Val, h.a = a, &m
	}
	if b != nil {
		m := *h.b
		m.Val, h.b = b, &m
	}
}

// fill computes the values of the rows in val, and copies their columns to idx unless it is nil. The pattern keeps idx, which
// must not change.
func (h *hostRows[V]) fill(idx []int32, val []V) (err error) {
	defer rescue.To(&err)
	if idx != nil {
		copy(idx, h.pattern.ColIdx)
		h.pattern.ColIdx = idx // frees the other copy
	}
	return spgemm.Numeric(h.pattern, h.a, h.b, val, h.run)
}
