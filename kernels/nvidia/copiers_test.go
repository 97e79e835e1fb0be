//go:build cuda

package nvidia

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/numa"
)

func TestCopiersOfAllDevicesAreAtMostAsManyAsTheCores(t *testing.T) {
	if len(copierPools.of) > 0 {
		t.Skip("an open device has copiers already")
	}
	topo, err := numa.Discover("/")
	require.NoError(t, err)
	cpus := topo.CoreGroups()[0].CPUs
	for _, cores := range []int{1, 2, 3} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			pools := []*copiers{joinCopiers(nil), joinCopiers(cpus[:1]), joinCopiers(nil)}
			require.Same(t, pools[0], pools[2])
			var now, most, bound atomic.Int64
			var jobs sync.WaitGroup
			for k := range 300 {
				jobs.Add(1)
				pools[k%3].run(func() {
					defer jobs.Done()
					n := now.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					if on, err := numa.Affinity(); k%3 == 1 && err == nil && len(on) == 1 && on[0] == cpus[0] {
						bound.Add(1)
					}
					runtime.Gosched()
					now.Add(-1)
				})
			}
			jobs.Wait()
			require.LessOrEqual(t, most.Load(), int64(cores))
			require.Equal(t, int64(100), bound.Load(), "on the CPUs of the GPU's node")
			require.LessOrEqual(t, pools[0].threads, cores)
			require.Equal(t, 1, pools[1].threads)
			for _, p := range pools {
				p.leave()
			}
			require.Empty(t, copierPools.of)
		}()
	}
}

func TestWaitsKeepCoresBusyOnlyIfThereAreTwoForEachDeviceAndTwoMore(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	require.Zero(t, openDevices.Load())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for devices := range 3 {
		if devices > 0 {
			open(t, Config{Copy: devices})
		}
		runtime.GOMAXPROCS(2*devices + 1)
		require.False(t, spins())
		runtime.GOMAXPROCS(2*devices + 2)
		require.True(t, spins())
	}
}
