package msrep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// mixedSystem opens a CPU device and two simulated GPUs. fail is called before each call of a GPU.
func mixedSystem(t *testing.T, fail func(call string) error) *System {
	c, err := cpu.Open(cpu.Config{Threads: 2, NUMANode: -1})
	require.NoError(t, err)
	first, err := sim.Open(sim.Config{Index: 0, Fail: fail})
	require.NoError(t, err)
	second, err := sim.Open(sim.Config{Index: 1, Fail: fail})
	require.NoError(t, err)
	return newSystem(first, c, second)
}

func TestMatrixProductsOfCPUsAndGPUsHaveTheSameBits(t *testing.T) {
	for name, m := range productCases(t) {
		sys := mixedSystem(t, nil)
		p, err := NewMatrixProduct[float64](ctx, sys, m[0], m[1])
		require.NoError(t, err, name)
		requireMatrix(t, plainMatrixProduct(m[0], m[1]), p.Result())
		next := *m[0]
		next.Val = slices.Clone(next.Val)
		for k := range next.Val {
			next.Val[k] += 0.25
		}
		require.NoError(t, p.UpdateValues(ctx, next.Val, nil), name)
		requireMatrix(t, plainMatrixProduct(&next, m[1]), p.Result())
		ended, end := context.WithCancel(ctx)
		end()
		require.ErrorIs(t, p.UpdateValues(ended, m[0].Val, nil), context.Canceled)
		require.NoError(t, p.UpdateValues(ctx, m[0].Val, nil), name)
		requireMatrix(t, plainMatrixProduct(m[0], m[1]), p.Result())
		require.NoError(t, sys.Close(), "closes the product and frees its memory")
	}
}

func TestMatrixProductsOnMoreGPUsThanRows(t *testing.T) {
	sys, err := Open(Config{Devices: "sim:6"})
	require.NoError(t, err)
	one := &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 1}, ColIdx: []int32{0}, Val: []float64{3}}
	p, err := NewMatrixProduct[float64](ctx, sys, one, one)
	require.NoError(t, err)
	require.Equal(t, []float64{9}, p.Result().Val)
	require.Positive(t, p.Info().Bytes)
	require.NoError(t, p.Close())
	require.NoError(t, sys.Close())
}

func TestAMatrixProductWhoseGPUFailsAtAnyCallLeaksNothing(t *testing.T) {
	a, _, err := gen.Generate("stencil:n=3,points=5")
	require.NoError(t, err)
	errFailed := errors.New("injected")
	failures, updates := 0, 0
	for n := 1; ; n++ {
		var mu sync.Mutex
		left := n
		sys := mixedSystem(t, func(string) error {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				return errFailed
			}
			return nil
		})
		p, err := NewMatrixProduct[float64](ctx, sys, a, a)
		if err == nil {
			if err = p.UpdateValues(ctx, a.Val, nil); err == nil {
				err = p.UpdateValues(ctx, slices.Clone(a.Val), nil)
			}
			if err != nil {
				require.ErrorContains(t, p.UpdateValues(ctx, a.Val, nil), "unusable after an earlier error")
				updates++
			}
		} else {
			require.Empty(t, sys.devices().Opened)
		}
		require.NoError(t, sys.Close(), "call %d: every buffer is freed", n)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errFailed)
		failures++
	}
	require.Greater(t, failures, 30)
	require.Positive(t, updates)
}
