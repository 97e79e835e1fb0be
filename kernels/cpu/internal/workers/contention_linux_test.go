package workers

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/msrep-go/msrep/numa"
)

func TestContentionLastsLongerEachTimeItComesBackSoon(t *testing.T) {
	var c contention
	require.False(t, c.present())
	require.Equal(t, lostMost, c.losses())
	now := time.Since(epoch)
	c.notice(now)
	require.True(t, c.present())
	require.Equal(t, 1, c.losses())
	require.Equal(t, int64(now+restLeast), c.until.Load())
	c.notice(now + 1)
	require.Equal(t, int64(now+restLeast), c.until.Load(), "the same contention")
	for rest := 2 * restLeast; rest < 4*restMost; rest *= 2 {
		now = time.Duration(c.until.Load())
		c.notice(now)
		require.Equal(t, int64(now+min(rest, restMost)), c.until.Load())
	}
	now = time.Duration(c.until.Load()) + restMost
	c.notice(now)
	require.Equal(t, int64(now+restLeast), c.until.Load(), "it was away")
	c.until.Store(1)
	require.False(t, c.present(), "it is over")
	c.always.Store(true)
	require.True(t, c.present())
}

// keepBusy runs a thread on this CPU that does not yield, as an idle thread of OpenMP does, until the test ends.
func keepBusy(t *testing.T, cpu int) {
	var over atomic.Bool
	done, pinned := make(chan bool), make(chan error)
	go func() {
		runtime.LockOSThread() // not unlocked: the thread ends
		pinned <- numa.Pin([]int{cpu})
		for !over.Load() {
		}
		close(done)
	}()
	require.NoError(t, <-pinned)
	t.Cleanup(func() {
		over.Store(true)
		<-done
	})
}

func TestWorkersLeaveTheirCPUToAThreadThatPolls(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4)) // goroutines for all threads
	cpus := severalCPUs(t)
	p := New(2, DefaultGrain, nil, nil)
	defer p.Close()
	p.cpus.Store(math.MaxInt32)
	require.NoError(t, p.Run(2, func(i int) {
		if i == 1 {
			runtime.LockOSThread()
			_ = numa.Pin(cpus[1:2])
		}
	}))
	keepBusy(t, cpus[1])
	_ = numa.Pin(cpus[:1])
	defer func() { _ = numa.Pin(cpus) }()
	for begin := time.Now(); !p.contention.present(); time.Sleep(50 * time.Microsecond) {
		require.Less(t, time.Since(begin), 20*time.Second, "the worker has not noticed the other thread")
		p.cpus.Store(math.MaxInt32)
		require.NoError(t, p.Run(2, func(int) {}))
	}
}

func TestACallerTakesTheJobOfAWorkerThatIsLate(t *testing.T) {
	p := New(3, DefaultGrain, nil, nil)
	defer p.Close()
	p.SleepAtOnce()
	stolen := make([]int, 3)
	for range 3000 {
		var by [3]int64
		var calls [3]atomic.Int64
		runtime.LockOSThread()
		main := int64(unix.Gettid())
		require.NoError(t, p.Run(3, func(i int) {
			by[i] = int64(unix.Gettid())
			calls[i].Add(1)
		}))
		runtime.UnlockOSThread()
		for i := range calls {
			require.Equal(t, int64(1), calls[i].Load(), "piece %d", i)
			if by[i] == main {
				stolen[i]++
			}
		}
		if stolen[1] > 100 && stolen[2] > 100 {
			return
		}
	}
	require.Fail(t, "no job was taken", "%v", stolen)
}
