package workers

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/numa"
)

// severalCPUs locks the test to its thread and returns the CPUs that the thread may run on. It skips the test if
// there is only one.
func severalCPUs(t *testing.T) []int {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	cpus, err := numa.Affinity()
	if err != nil || len(cpus) < 2 || runtime.GOMAXPROCS(0) < 2 {
		t.Skip("this needs two CPUs")
	}
	left.Store(nil)
	t.Cleanup(func() { running = countRunning })
	running = func() int { return runtime.NumCPU() }
	return cpus
}

func TestAThreadLeavesItsCPUAndMayComeBack(t *testing.T) {
	cpus := severalCPUs(t)
	moved := false
	for range 100 { // the system may move the thread as well
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

	soon := move{at: time.Now().Add(time.Hour)}
	left.Store(&soon)
	leaveCPU()
	require.Same(t, &soon, left.Load(), "another thread has just moved")
}

func TestAThreadStaysWhereNoCPUIsIdle(t *testing.T) {
	severalCPUs(t)
	running = func() int { return runtime.NumCPU() + 1 }
	stayed := false
	for range 100 { // the system may move the thread as well
		here := currentCPU()
		left.Store(nil)
		leaveCPU()
		stayed = stayed || currentCPU() == here
	}
	require.True(t, stayed)
	left.Store(&move{time.Now().Add(-settleMost), settleMost})
	leaveCPU()
	require.Equal(t, settleTime, left.Load().settle, "one may be idle soon")
	require.Positive(t, countRunning())
	require.Less(t, countRunning(), 1<<20)
}

func TestMovesThatDoNotHelpBecomeRare(t *testing.T) {
	now := time.Now()
	first := (*move)(nil).after(now)
	require.Equal(t, &move{now, settleTime}, first)
	m := first
	for settle := 2 * settleTime; settle < 4*settleMost; settle *= 2 { // one move as soon as one is allowed
		require.Nil(t, m.after(m.at.Add(m.settle-1)))
		m = m.after(m.at.Add(m.settle))
		require.Equal(t, min(settle, settleMost), m.settle)
	}
	require.Equal(t, settleTime, m.after(m.at.Add(2*m.settle)).settle, "the move before helped")
}

func TestThreadsThatShareACPULookForAnother(t *testing.T) {
	cpus := severalCPUs(t)
	p := New(2, DefaultGrain, nil, nil)
	defer p.Close()
	if p.spin(1) == 0 {
		t.Skip("too many threads are busy")
	}
	var refused [2]error
	require.NoError(t, p.Run(2, func(i int) {
		runtime.LockOSThread() // not unlocked: the thread ends with the worker
		refused[i] = numa.Pin(cpus[:1])
	}))
	defer runtime.UnlockOSThread()
	defer func() { require.NoError(t, numa.Pin(cpus)) }()
	require.Equal(t, [2]error{}, refused)
	for range 1000 {
		require.NoError(t, p.Run(2, func(int) {
			for begin := time.Now(); time.Since(begin) < 20*time.Microsecond; {
			}
		}))
		if left.Load() != nil {
			return
		}
	}
	require.Fail(t, "they stayed where they were")
}
