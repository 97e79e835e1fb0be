package msrep

import (
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestRangeGivesEveryItemToOnePiece(t *testing.T) {
	a, err := sparse.NewCSR(1, 1, []int64{0, 1}, []int32{0}, []float64{1})
	require.NoError(t, err)
	for _, c := range []Config{{Devices: "cpu:1", Threads: 1}, {Devices: "cpu:1", Threads: 3}, {Devices: "cpu:2"}, {Devices: "sim:1"}} {
		sys := open(t, c)
		plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{})
		for _, n := range []int{-1, 0, 1, 2, 7, 100} {
			for _, grain := range []int{-1, 0, 1, 5, 1000, math.MaxInt} {
				calls := make([]atomic.Int32, max(n, 0))
				require.NoError(t, plan.Range(n, grain, func(lo, hi int) {
					if hi-lo < max(min(grain, n), 1) {
						panic("a piece below the grain, or empty")
					}
					for i := lo; i < hi; i++ {
						calls[i].Add(1)
					}
				}))
				for i := range calls {
					require.Equal(t, int32(1), calls[i].Load(), "%+v, item %d of %d", c, i, n)
				}
			}
		}
		err := plan.Range(100, 1, func(lo, hi int) {
			if hi == 100 {
				panic("oh dear")
			}
		})
		require.Regexp(t, `^f: panicked: oh dear \(msrep/range_test.go:\d+\)$`, err.Error(), "%+v: the error must name neither the device nor msrep", c)
		require.EqualError(t, plan.Range(100, 1, nil), "f: is nil")
		require.NoError(t, plan.Range(100, 1, func(lo, hi int) {}), "the workers still run")
		require.NoError(t, sys.Close())
		if c.Devices == "cpu:1" {
			require.ErrorIs(t, plan.Range(100, 1, func(lo, hi int) {}), ErrClosed)
		}
	}
	require.ErrorContains(t, (*Plan[float64])(nil).Range(1, 1, nil), "not made by NewPlan")
}

func TestRangeHasAPieceForEachWorkerOfOneDeviceAndFewerOfSeveral(t *testing.T) {
	a, err := sparse.NewCSR(1, 1, []int64{0, 1}, []int32{0}, []float64{1})
	require.NoError(t, err)
	for devices, want := range map[string]int32{"cpu:1": 6, "cpu:2": 1} { // goroutines need pieces of at least 4*grain
		sys := open(t, Config{Devices: devices, Threads: 6})
		plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{})
		var pieces atomic.Int32
		require.NoError(t, plan.Range(6, 1, func(lo, hi int) { pieces.Add(1) }))
		require.Equal(t, want, pieces.Load(), devices)
		require.NoError(t, sys.Close())
	}
}
