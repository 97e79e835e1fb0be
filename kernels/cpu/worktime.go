package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// now is time.Now. Tests replace it.
var now = time.Now

// threadTime returns the CPU time of the calling thread. It is nil if the system does not measure that finely enough.
// Tests replace it.
var threadTime = fineThreadTime()

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

// workTime is a clock that stands still while the calling thread has no CPU. Without CPU times it is the time of day.
// The goroutine must stay on its thread between two readings.
func workTime() time.Duration {
	if threadTime == nil {
		return now().Sub(epoch)
	}
	return threadTime()
}

// waitTime is workTime for waiting times, which are subtracted from it. It does not use the time of day that tests
// replace.
func waitTime() time.Duration {
	if threadTime == nil {
		return time.Since(epoch)
	}
	return threadTime()
}

// work is the times of workers in a job.
type work struct {
	took time.Duration // time of the slowest worker, without waiting for a CPU
	// wanted is the time of all workers together, and lost the part of it in which they had no CPU.
	wanted, lost time.Duration
}

// timed calls f(0) ... f(n-1) on the workers, which begin together and stay on their threads. Beside busy processes
// workers wait for a CPU, some for longer than they work: only CPU time tells how long f takes.
func (p *pool) timed(n int, f func(i int)) (w work, err error) {
	type lap struct{ work, wall time.Duration }
	laps := make([]lap, n)
	var ready atomic.Int64
	err = p.run(n, func(i int) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		begin := time.Now()
		for ready.Add(1); ready.Load() < int64(n) && time.Since(begin) < barrierTime; {
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

// barrierTime is how long a worker waits for the others to begin, so that all share caches and memory while they are
// timed. A worker without a CPU may take a thousand times as long to arrive.
const barrierTime = 20 * time.Microsecond
