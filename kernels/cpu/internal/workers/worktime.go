package workers

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// now is time.Now unless SetClock replaced it.
var now = time.Now

// threadTime returns the CPU time of the calling thread. It is nil if the system does not measure that finely enough.
var threadTime = fineThreadTime()

// Now is time.Now. Tests replace it.
func Now() time.Time { return now() }

// SetClock replaces the time of day, and measures WorkTime by it, until undo. One goroutine at a time calls f; its
// times begin with the zero time. It is for tests.
func SetClock(f func() time.Time) (undo func()) {
	oldNow, oldThread := now, threadTime
	var mu sync.Mutex
	now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return epoch.Add(f().Sub(time.Time{}))
	}
	threadTime = nil
	return func() { now, threadTime = oldNow, oldThread }
}

// SetThreadTime replaces the CPU time of threads until undo. It is for tests.
func SetThreadTime(f func() time.Duration) (undo func()) {
	old := threadTime
	threadTime = f
	return func() { threadTime = old }
}

// fineThreadTime returns threadCPU if one of some of its steps is short enough to time bursts of products, and nil
// otherwise.
func fineThreadTime() func() time.Duration {
	const (
		steps  = 20
		coarse = 2 * time.Microsecond
	)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	last, known := threadCPU()
	begin := time.Now()
	for n := 0; known && n < steps && time.Since(begin) < 10*time.Millisecond; {
		next, _ := threadCPU()
		if next > last && next-last < coarse {
			return func() time.Duration {
				t, _ := threadCPU()
				return t
			}
		}
		if next > last {
			n++
		}
		last = next
	}
	return nil
}

// WorkTime is a clock that stands still while the calling thread has no CPU. Without CPU times it is the time of day.
// The goroutine must stay on its thread between two readings.
func WorkTime() time.Duration {
	if threadTime == nil {
		return now().Sub(epoch)
	}
	return threadTime()
}

// WaitTime is WorkTime for waiting times, which are subtracted from it. It does not use the time of day that tests
// replace.
func WaitTime() time.Duration {
	if threadTime == nil {
		return time.Since(epoch)
	}
	return threadTime()
}

// Work is the times of workers in a job.
type Work struct {
	Took time.Duration // time of the slowest worker, without waiting for a CPU
	// Wanted is the time of all workers together, and Lost the part of it in which they had no CPU.
	Wanted, Lost time.Duration
}

// Timed calls f(0) ... f(n-1) on the workers, which begin together and stay on their threads. Beside busy processes
// workers wait for a CPU, some for longer than they work: only CPU time tells how long f takes.
func (p *Pool) Timed(n int, f func(i int)) (w Work, err error) {
	type lap struct{ work, wall time.Duration }
	laps := make([]lap, n)
	var ready atomic.Int64
	err = p.Run(n, func(i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		begin := time.Now()
		for ready.Add(1); ready.Load() < int64(n) && time.Since(begin) < barrierTime; {
		}
		begin, first := time.Now(), WorkTime()
		f(i)
		laps[i] = lap{WorkTime() - first, time.Since(begin)}
	})
	for _, l := range laps {
		w.Took = max(w.Took, l.work)
		if threadTime != nil {
			w.Wanted += l.wall
			w.Lost += max(l.wall-l.work, 0)
		}
	}
	return w, err
}

// barrierTime is how long a worker waits for the others to begin, so that all share caches and memory while they are
// timed. A worker without a CPU may take a thousand times as long to arrive.
const barrierTime = 20 * time.Microsecond
