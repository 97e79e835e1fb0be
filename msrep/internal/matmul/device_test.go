package matmul

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// onHost returns A B computed by CPUs.
func onHost[V sparse.Value](t *testing.T, a, b *sparse.CSR[V]) *sparse.CSR[V] {
	c, err := spgemm.Multiply(a, b, nil)
	require.NoError(t, err)
	return c
}

// onDevices returns A B by several devices at the same time, and a function that computes the values again.
func onDevices[V sparse.Value](ctx context.Context, devices []kernels.Device, a, b *sparse.CSR[V]) (c *sparse.CSR[V], update func(a, b []V) error, parts []*DevicePart[V], err error) {
	parts = make([]*DevicePart[V], len(devices))
	each := func(f func(i int) error) error {
		errs := make([]error, len(parts))
		var wait sync.WaitGroup
		for i := range parts {
			wait.Go(func() { errs[i] = f(i) })
		}
		wait.Wait()
		return errors.Join(errs...)
	}
	cut := func(i int) int { return a.Rows * i / len(parts) }
	c = &sparse.CSR[V]{Rows: a.Rows, Cols: b.Cols, RowPtr: []int64{0}}
	err = each(func(i int) (err error) {
		parts[i], err = NewDevicePart(ctx, devices[i], a, b, cut(i), cut(i+1))
		return err
	})
	if err != nil {
		return nil, nil, parts, err
	}
	for _, p := range parts {
		for _, n := range p.Count() {
			c.RowPtr = append(c.RowPtr, c.RowPtr[len(c.RowPtr)-1]+int64(n))
		}
	}
	n := c.RowPtr[a.Rows]
	c.ColIdx, c.Val = make([]int32, n), make([]V, n)
	fill := func(i int) error {
		lo, hi := c.RowPtr[cut(i)], c.RowPtr[cut(i+1)]
		return parts[i].Fill(ctx, c.RowPtr[cut(i):cut(i+1)+1], c.ColIdx[lo:hi], c.Val[lo:hi])
	}
	update = func(a, b []V) error {
		return each(func(i int) error {
			if err := parts[i].Update(a, b); err != nil {
				return err
			}
			return fill(i)
		})
	}
	return c, update, parts, each(fill)
}

// simulated opens n simulated GPUs. The test fails if they do not get back all memory.
func simulated(t *testing.T, n int) (devices []kernels.Device) {
	for i := range n {
		d, err := sim.Open(sim.Config{Index: i})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		devices = append(devices, d)
	}
	return devices
}

// mixed opens a CPU device with three workers, a simulated GPU, and a CPU device with one.
func mixed(t *testing.T) []kernels.Device {
	devices := simulated(t, 3)
	for i, threads := range map[int]int{0: 3, 2: 1} {
		d, err := cpu.Open(cpu.Config{Threads: threads, NUMANode: -1})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		devices[i] = d
	}
	return devices
}

// check multiplies by 1, 2, 3 and 6 devices, also with new values, and compares the bits. The 3 are different.
func check[V sparse.Value](t *testing.T, a, b *sparse.CSR[V]) {
	t.Helper()
	want := onHost(t, a, b)
	scaled := func(m *sparse.CSR[V], by V) *sparse.CSR[V] {
		v := make([]V, len(m.Val))
		for k := range v {
			v[k] = by * m.Val[k]
		}
		return &sparse.CSR[V]{Rows: m.Rows, Cols: m.Cols, RowPtr: m.RowPtr, ColIdx: m.ColIdx, Val: v}
	}
	newA, newB := scaled(a, 3), scaled(b, 1.0/7)
	next := onHost(t, newA, newB)
	for _, n := range []int{1, 2, 3, 6} {
		devices := simulated(t, n)
		if n == 3 {
			devices = mixed(t)
		}
		c, update, parts, err := onDevices(t.Context(), devices, a, b)
		require.NoError(t, err)
		require.Equal(t, want, c, "%d devices", n)
		if n == 2 || n == 3 {
			require.NoError(t, update(newA.Val, newB.Val))
			require.Equal(t, next, c, "new values")
			clear(c.Val)
			require.NoError(t, update(nil, nil))
			require.Equal(t, next, c, "the same values")
		}
		for i, p := range parts {
			if devices[i].Info().Kind == "sim" {
				require.Equal(t, devices[i].InUse(), p.Bytes())
			}
			require.NoError(t, p.Close())
			require.NoError(t, p.Close())
			require.Zero(t, devices[i].InUse())
			require.ErrorIs(t, p.Update(nil, nil), kernels.ErrClosed)
			require.ErrorIs(t, p.Fill(t.Context(), []int64{0}, nil, nil), kernels.ErrClosed)
		}
	}
}

// random returns a matrix whose rows have repeated columns in any order.
func random[V sparse.Value](r *rand.Rand, rows, cols, longest int) *sparse.CSR[V] {
	m := &sparse.CSR[V]{Rows: rows, Cols: cols, RowPtr: []int64{0}}
	for range rows {
		for range r.IntN(longest + 1) {
			m.ColIdx, m.Val = append(m.ColIdx, int32(r.IntN(cols))), append(m.Val, V(r.NormFloat64()))
		}
		m.RowPtr = append(m.RowPtr, int64(len(m.Val)))
	}
	return m
}

func TestDevicesMultiplyWithTheBitsOfCPUs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][4]int{{1, 1, 1, 1}, {4, 3, 5, 2}, {40, 30, 50, 4}, {30, 40, 2000, 30}, {2, 40, 4000, 120}} {
		check(t, random[float64](r, s[0], s[1], s[3]), random[float64](r, s[1], s[2], s[3]))
		check(t, random[float32](r, s[0], s[1], s[3]), random[float32](r, s[1], s[2], s[3]))
	}
}

func TestDevicesMultiplyEmptyMatrices(t *testing.T) {
	empty := func(rows, cols int) *sparse.CSR[float64] {
		return &sparse.CSR[float64]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1), ColIdx: []int32{}, Val: []float64{}}
	}
	for _, s := range [][3]int{{0, 0, 0}, {0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {7, 5, 4}} {
		devices := simulated(t, 3)
		c, update, parts, err := onDevices(t.Context(), devices, empty(s[0], s[1]), empty(s[1], s[2]))
		require.NoError(t, err)
		require.Empty(t, c.Val)
		require.Len(t, c.RowPtr, s[0]+1)
		require.NoError(t, update(nil, nil))
		for _, p := range parts {
			require.NoError(t, p.Close())
		}
	}
}

func TestDevicesSquareRealMatrices(t *testing.T) {
	for _, name := range []string{"Harvard500", "can_144", "gre_343"} {
		m, err := matio.Read(t.Context(), fmt.Sprintf("../../../testdata/%s.mtx.gz", name))
		require.NoError(t, err)
		a := sparse.ToCSR[float64](m)
		check(t, a, a)
	}
}

// Rows with more than 1536 entries take memory for each column.
func TestLongRowsTakeAsMuchMemoryAsThereIs(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	a, b := random[float64](r, 8, 6, 10), random[float64](r, 6, 1<<16, 2500)
	want := onHost(t, a, b)
	least := int64(0)
	for _, memory := range []int64{0, 4 << 20, 2 << 20, 300 << 10, 1000} {
		d, err := sim.Open(sim.Config{Memory: memory})
		require.NoError(t, err)
		c, _, parts, err := onDevices(t.Context(), []kernels.Device{d}, a, b)
		if memory > 0 && memory < 500<<10 {
			require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		} else {
			require.NoError(t, err)
			require.Equal(t, want, c)
			least = memory
		}
		require.NoError(t, parts[0].Close())
		require.NoError(t, d.Close())
	}
	require.EqualValues(t, 2<<20, least)
}

func TestAProductLargerThanTheDeviceIsComputedInRunsOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	a, b := random[float64](r, 80, 10, 10), random[float64](r, 10, 4000, 300)
	want := onHost(t, a, b)
	require.Greater(t, 12*len(want.Val), 300_000)
	for memory, runs := range map[int64]int{0: 1, 250_000: 2, 150_000: 5} {
		fills := 0
		d, err := sim.Open(sim.Config{Memory: memory, Unchecked: true, Trace: func(kernel string, _ sim.Counters) {
			if kernel == "msrep_spgemm_fill_block_f64" {
				fills++
			}
		}})
		require.NoError(t, err)
		c, update, parts, err := onDevices(t.Context(), []kernels.Device{d}, a, b)
		require.NoError(t, err)
		require.Equal(t, want, c)
		require.GreaterOrEqual(t, fills, runs)
		clear(c.Val)
		require.NoError(t, update(a.Val, b.Val))
		require.Equal(t, want, c)
		require.NoError(t, parts[0].Close())
		require.NoError(t, d.Close())
	}
}

func TestADeviceThatFailsAtAnyCallOfAProductLeaksNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	a, b := random[float64](r, 5, 6, 8), random[float64](r, 6, 3000, 900)
	errFault := errors.New("injected")
	failures := 0
	for n := 1; ; n++ {
		var mu sync.Mutex
		left, devices := n, []kernels.Device{}
		for i := range 2 {
			d, err := sim.Open(sim.Config{Index: i, Unchecked: true, Fail: func(string) error {
				mu.Lock()
				defer mu.Unlock()
				if left--; left == 0 {
					return errFault
				}
				return nil
			}})
			require.NoError(t, err)
			devices = append(devices, d)
		}
		_, update, parts, err := onDevices(t.Context(), devices, a, b)
		if err == nil {
			err = update(a.Val, b.Val)
		}
		if err != nil {
			require.ErrorIs(t, err, errFault)
			failures++
			if update != nil {
				require.ErrorIs(t, update(nil, nil), errFault, "the part of the device is unusable")
			}
		}
		for _, p := range parts {
			require.NoError(t, p.Close())
		}
		for _, d := range devices {
			require.NoError(t, d.Close(), "call %d: every buffer is freed", n)
		}
		if err == nil {
			break
		}
	}
	require.Greater(t, failures, 60)
}

func TestAContextThatEndsStopsAProductOnADevice(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	a := random[float64](r, 5, 5, 3)
	d := simulated(t, 1)[0]
	ended, end := context.WithCancel(t.Context())
	end()
	_, err := NewDevicePart(ended, d, a, a, 0, 5)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, d.InUse())
	p, err := NewDevicePart(t.Context(), d, a, a, 0, 5)
	require.NoError(t, err)
	want := onHost(t, a, a)
	c := *want
	c.ColIdx, c.Val = make([]int32, len(want.ColIdx)), make([]float64, len(want.Val))
	require.ErrorIs(t, p.Fill(ended, c.RowPtr, c.ColIdx, c.Val), context.Canceled)
	require.NoError(t, p.Fill(t.Context(), c.RowPtr, c.ColIdx, c.Val))
	require.Equal(t, want, &c)
	require.NoError(t, p.Close())
}
