package cpu

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/numa"
)

// severalCPUs holds the thread of the test and gives the CPUs that it may run on, of
// which it needs two.
func severalCPUs(t *testing.T) []int {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	cpus, err := numa.Affinity()
	if err != nil || len(cpus) < 2 || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("this needs two CPUs")
	}
	left.Store(nil)
	return cpus
}

func TestAThreadLeavesItsCPUAndMayComeBack(t *testing.T) {
	cpus := severalCPUs(t)
	moved := false
	for range 100 { // the system may move it as well
		here := currentCPU()
		leaveCPU()
		if moved = currentCPU() != here; moved {
			break
		}
		left.Store(nil)
	}
	require.True(t, moved)
	again, err := numa.Affinity()
	require.NoError(t, err)
	require.Equal(t, cpus, again)

	soon := time.Now().Add(time.Hour)
	left.Store(&soon)
	leaveCPU()
	require.Same(t, &soon, left.Load(), "another has just moved")
}

func TestThreadsThatShareACPULookForAnother(t *testing.T) {
	cpus := severalCPUs(t)
	p := newPool(2, nil, nil)
	defer p.close()
	if p.spin(1) == 0 {
		t.Skip("too many threads are busy")
	}
	var refused [2]error
	require.NoError(t, p.run(2, func(i int) {
		runtime.LockOSThread() // never unlocked by a worker: its thread ends with it
		refused[i] = numa.Pin(cpus[:1])
	}))
	defer runtime.UnlockOSThread()
	defer func() { require.NoError(t, numa.Pin(cpus)) }()
	require.Equal(t, [2]error{}, refused)
	for range 1000 {
		require.NoError(t, p.run(2, func(int) {
			for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; {
			}
		}))
		if left.Load() != nil {
			return
		}
	}
	require.Fail(t, "they stayed where they were")
}
