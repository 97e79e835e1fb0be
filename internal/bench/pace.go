package bench

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pace is the current speed of the processor: the time of a fixed amount of arithmetic in registers on one thread,
// alone and while the other threads do the same. It shows what a virtual machine hides and what can change at any
// time: alone grows when another guest uses the same core; together exceeds alone when two virtual CPUs are one core.
// Times of products at different paces cannot be compared.
type pace struct{ alone, together time.Duration }

// paceOf returns the median pace of several rounds, which take a few milliseconds. It uses at most GOMAXPROCS
// threads.
func paceOf(threads int) pace {
	const rounds = 9
	var alone, together [rounds]time.Duration
	for i := range rounds {
		alone[i] = arithmetic()
		together[i] = slices.Max(atOnce(min(threads, runtime.GOMAXPROCS(0)), arithmetic))
	}
	slices.Sort(alone[:])
	slices.Sort(together[:])
	return pace{alone[rounds/2], together[rounds/2]}
}

// paces formats the paces before and after a measurement as columns, in microseconds.
func paces(before, after pace) string {
	return fmt.Sprintf("alone=%d,%d together=%d,%d", before.alone.Microseconds(), after.alone.Microseconds(),
		before.together.Microseconds(), after.together.Microseconds())
}

// atOnce calls f on n goroutines, which all start when the last one runs. They spin instead of yielding: two that
// yield could run one after the other on one thread.
func atOnce(n int, f func() time.Duration) []time.Duration {
	took := make([]time.Duration, n)
	var ready atomic.Int64
	var done sync.WaitGroup
	for i := range took {
		done.Go(func() {
			for ready.Add(1); ready.Load() < int64(n); {
			}
			took[i] = f()
		})
	}
	done.Wait()
	return took
}

// arithmeticResult keeps the compiler from removing the arithmetic.
var arithmeticResult atomic.Uint64

// arithmetic returns the time of a few hundred thousand steps, each with as many additions as a core has units.
func arithmetic() time.Duration {
	begin := time.Now()
	var a, b, c, d, e, f uint64
	for i := range uint64(300_000) {
		a, b, c, d, e, f = a+i, b^i, c-i, d+i, e^i, f-i
	}
	took := time.Since(begin)
	arithmeticResult.Store(a + b + c + d + e + f)
	return took
}
