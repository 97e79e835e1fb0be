package msrep

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

func TestProductsRunOnThreadsOfTheProgram(t *testing.T) {
	a, _, err := gen.Generate("banded:n=60000,band=2")
	require.NoError(t, err)
	x, want := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = float64(i % 17)
	}
	ctx := context.Background()
	opt := PlanOptions{Deterministic: true}
	require.NoError(t, planOf(t, open(t, Config{Devices: "cpu:1", Threads: 1}), sparse.Matrix[float64](a), opt).SpMV(ctx, NoTrans, 1, x, 0, want))
	for _, devices := range []string{"cpu:1", "cpu:2"} {
		var runs atomic.Int64
		sys := open(t, Config{Devices: devices, Threads: 4, Yield: true, Run: func(n int, f func(i int)) {
			runs.Add(1)
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() { f(i) })
			}
			all.Wait()
		}})
		plan := planOf(t, sys, sparse.Matrix[float64](a), opt)
		runs.Store(0)
		y := make([]float64, a.Rows)
		require.NoError(t, plan.SpMV(ctx, NoTrans, 1, x, 0, y))
		require.Equal(t, want, y)
		require.Positive(t, runs.Load())
	}
	_, err = Open(Config{NUMA: NUMAOn, Run: func(int, func(int)) {}})
	require.EqualError(t, err, `numa: "on" places workers: it cannot be used with Run`)

	lazy := open(t, Config{Devices: "cpu:1", Threads: 2, Run: func(int, func(int)) {}})
	_, err = NewPlan(ctx, lazy, sparse.Matrix[float64](a), opt)
	if err == nil {
		t.Fatal("Run that does nothing is an error")
	}
	require.ErrorContains(t, err, "Config.Run called f 0 times for n = 2")
}
