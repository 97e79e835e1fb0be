package workers

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

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

func TestAWokenThreadMayRunOnOtherCPUsThanItsWakerAndThenOnAll(t *testing.T) {
	cpus := severalCPUs(t)
	for _, cpu := range append(cpus, -1) { // -1 is unknown
		var state atomic.Uint32
		s := &sleeper{}
		state.Store(threadAsleep)
		type woken struct {
			thread int
			cpus   []int
		}
		through := make(chan woken)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			s.park(&state)
			after, err := numa.Affinity()
			if err != nil {
				after = nil
			}
			through <- woken{unix.Gettid(), after}
		}()
		require.Eventually(t, func() bool { return s.thread.Load() != 0 }, 10*time.Second, 100*time.Microsecond)
		state.Store(waking)
		s.wake(&state, int32(cpu))
		w := <-through
		require.Equal(t, cpus, w.cpus, "it may run on all CPUs again")
		if cpu < 0 {
			require.Zero(t, s.moved)
			continue
		}
		require.Equal(t, w.thread, s.moved)
		require.Equal(t, len(cpus), s.cpus.Count())
	}
}

// Other threads keep the other CPUs busy.
func TestDuringContentionAWokenThreadMayRunAnywhere(t *testing.T) {
	severalCPUs(t)
	for _, present := range []bool{false, true} {
		g := newWaitPoint()
		g.contention = &contention{}
		g.contention.always.Store(present)
		var ready atomic.Bool
		through := make(chan struct{})
		go func() {
			g.wait(ready.Load, 1)
			close(through)
		}()
		require.Eventually(t, func() bool { return g.asleep.Load() == threadAsleep && g.thread.thread.Load() != 0 }, 10*time.Second, 100*time.Microsecond)
		ready.Store(true)
		require.True(t, g.open())
		<-through
		require.Equal(t, !present, g.thread.moved != 0)
	}
}
