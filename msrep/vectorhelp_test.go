package msrep

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// eventLog records the events of a System.
type eventLog struct {
	mu     sync.Mutex
	events []Event
}

func (l *eventLog) record(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// drain returns the bytes copied to and from the host and between devices, and the number of waits, and clears the log.
func (l *eventLog) drain() (host, between int64, waits int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		switch e.Name {
		case "read", "write":
			host += e.Bytes
		case "copy":
			between += e.Bytes
		case "sync":
			waits++
		}
	}
	l.events = nil
	return host, between, waits
}

// count returns the number of events with one of the names.
func (l *eventLog) count(names ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.events {
		if slices.Contains(names, e.Name) {
			n++
		}
	}
	return n
}

func normalVector[V sparse.Value](r *rand.Rand, n int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = V(r.NormFloat64())
	}
	return v
}

// onDevices writes elements to v and returns v.
func onDevices[V sparse.Value](t require.TestingT, v *Vector[V], err error, elements []V) *Vector[V] {
	require.NoError(t, err)
	require.NoError(t, v.Write(elements))
	return v
}

func elements[V sparse.Value](t require.TestingT, v *Vector[V]) []V {
	out := make([]V, v.Len())
	require.NoError(t, v.Read(out))
	return out
}

// bands returns a band matrix with one full row in the middle, so that parts begin within rows.
func bands(n int) *sparse.CSR[float64] {
	ptr, idx, val := []int64{0}, []int32{}, []float64{}
	for i := range n {
		lo, hi := max(i-2, 0), min(i+3, n)
		if i == n/2 {
			lo, hi = 0, n
		}
		for j := lo; j < hi; j++ {
			idx, val = append(idx, int32(j)), append(val, float64(i+j%7+1))
		}
		ptr = append(ptr, int64(len(idx)))
	}
	return &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: ptr, ColIdx: idx, Val: val}
}

// keepBands returns the entries of the bands, without the long row.
func keepBands(a *sparse.CSR[float64]) *sparse.COO[float64] {
	c := sparse.ToCOO[float64](a)
	out := &sparse.COO[float64]{Rows: c.Rows, Cols: c.Cols}
	for k, i := range c.RowIdx {
		if j := c.ColIdx[k]; j >= i-2 && j <= i+2 {
			out.RowIdx, out.ColIdx, out.Val = append(out.RowIdx, i), append(out.ColIdx, j), append(out.Val, c.Val[k])
		}
	}
	return out
}
