package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// now is replaced in tests.
var now = time.Now

// threadTime is the CPU time of the calling thread, nil where the system does not tell it finely enough. It
// is replaced in tests.
var threadTime = fineThreadTime()

// fineThreadTime is threadCPU where one of some steps of it is short enough to time bursts of products.
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

// workTime is a clock that stands still while the calling thread has no CPU, where there is one, and
// otherwise the time of day. The goroutine must stay on its thread between two readings.
func workTime() time.Duration {
	if threadTime == nil {
		return now().Sub(epoch)
	}
	return threadTime()
}

// waitTime is workTime for what is taken off from it: tests do not replace the time of day here.
func waitTime() time.Duration {
	if threadTime == nil {
		return time.Since(epoch)
	}
	return threadTime()
}

// work is what workers took for a job.
type work struct {
	took time.Duration // by the one that took longest, without what it waited for a CPU
	// wanted is the time of all workers together, and lost how much of it they had no CPU.
	wanted, lost time.Duration
}

// timed calls f(0) ... f(n-1) on the workers, which begin together and stay on their threads. Where other processes
// are busy workers wait for a CPU, some for longer than they work: only CPU time tells what f takes.
func (p *pool) timed(n int, f func(i int)) (w work, err error) {
	type lap struct{ work, wall time.Duration }
	laps := make([]lap, n)
	var ready atomic.Int64
	err = p.run(n, func(i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		begin := time.Now()
		for ready.Add(1); ready.Load() < int64(n) && time.Since(begin) < meetTime; {
		}
		begin, first := time.Now(), workTime()
		f(i)
		laps[i] = lap{workTime() - first, time.Since(begin)}
	})
	for _, l := range laps {
		w.took = max(w.took, l.work)
		if threadTime != nil {
			w.wanted += l.wall
			w.lost += max(l.wall-l.work, 0)
		}
	}
	return w, err
}

// meetTime is how long a worker waits for the others to begin: what they take while they share caches and
// memory is the matter. One that has no CPU may take a thousand times as long to come.
const meetTime = 20 * time.Microsecond
