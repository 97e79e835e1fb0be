package msrep

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leastTime is the least time of several runs of products, for each product: in a run, no pause lets
// one goroutine make products by itself that several would be woken for.
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
	const n = 5000 // some microseconds on one CPU; several workers make it
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
				most = 5 * fresh // its workers wait for CPUs that others use; those opened now leave the work to one
			}
			require.LessOrEqual(t, old, most, "%s, GOMAXPROCS %d", devices, now)
		}
		require.NoError(t, sys.Close())
	}
}
