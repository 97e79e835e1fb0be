package msrep

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leastTime returns the time of one product in the fastest of several runs. Within a run there is no pause after
// which a single goroutine would compute a product alone.
func leastTime(t *testing.T, p *Plan[float64], n int) time.Duration {
	const products = 100
	x, y := make([]float64, n), make([]float64, n)
	least := time.Hour
	for range 10 {
		begin := time.Now()
		for range products {
			multiply(t, p, NoTrans, 1, x, 0, y)
		}
		least = min(least, time.Since(begin))
	}
	return least / products
}

func TestProductsAreAsFastAsThoseOfASystemOpenedAfterGOMAXPROCSChanged(t *testing.T) {
	const n = 5000 // a product takes some microseconds on one CPU and uses several workers
	procs := min(runtime.NumCPU(), 4)
	if procs < 2 {
		t.Skip("this needs two CPUs")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	for _, devices := range []string{"cpu:1", "cpu:2"} {
		sys := open(t, Config{Devices: devices, NUMA: NUMAOff})
		plan := planOf(t, sys, bands(n), PlanOptions{Storage: Storage{Format: "csr"}})
		for _, now := range []int{procs, 1, procs} {
			runtime.GOMAXPROCS(now)
			old := leastTime(t, plan, n)
			other, err := Open(Config{Devices: devices, NUMA: NUMAOff})
			require.NoError(t, err)
			fresh := leastTime(t, planOf(t, other, bands(n), PlanOptions{Storage: Storage{Format: "csr"}}), n)
			require.NoError(t, other.Close())
			t.Logf("%s, GOMAXPROCS %d: %v, opened now: %v", devices, now, old, fresh)
			most := 2 * fresh
			if now > 1 {
				most = 5 * fresh // its workers wait for CPUs in use; a System opened now uses one worker
			}
			require.LessOrEqual(t, old, most, "%s, GOMAXPROCS %d", devices, now)
		}
		require.NoError(t, sys.Close())
	}
}
