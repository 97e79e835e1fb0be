package bench

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pace is how fast the processor is at the moment: how long a thread takes for some arithmetic in
// registers, alone and while others do the same. It tells what a virtual machine does not, and
// what may change at any time: alone takes longer where somebody else is on the same core, and
// together longer than alone where two of its CPUs are one core. Times of products that were
// taken at different paces can't be compared.
type pace struct{ alone, together time.Duration }

// paceOf takes the medians of some rounds, a few milliseconds. More threads than Go runs at a
// time are not measured.
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

// paces is the columns of the paces before and after something, in microseconds.
func paces(before, after pace) string {
	return fmt.Sprintf("alone=%d,%d together=%d,%d", before.alone.Microseconds(), after.alone.Microseconds(),
		before.together.Microseconds(), after.together.Microseconds())
}

// atOnce calls f on so many goroutines, which begin when the last of them runs. They don't give
// way before: two that did could take turns on one thread.
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

// arithmeticResult keeps the compiler from leaving the arithmetic out.
var arithmeticResult atomic.Uint64

// arithmetic is how long a few hundred thousand steps take, each as many additions as a core has
// units for.
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
