package cpu

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/partition"
)

// runner calls f(0) ... f(n-1), which together compute a product, and waits. pool.run is one.
type runner func(n int, f func(i int)) error

// defaultGrain is the number of entries and rows for which one more worker pays: handing a job to a polling worker
// takes half a microsecond, a thousand entries about a quarter.
const defaultGrain = 1 << 12

// shortWork is the number of entries and rows that take one worker about as long as waking another.
const shortWork = 1 << 16

// workers returns the number of workers for a product of a part.
func (d *Device) workers(p partition.Part) int {
	return int(max(min(int64(d.info.Threads), (p.NNZ()+int64(p.Majors()))/d.grain), 1))
}

// runPart calls f(0) ... f(n-1), which together compute a product of a part, and waits.
func (d *Device) runPart(p partition.Part, n int, f func(i int)) error {
	return d.pool.runJob(n, f, p.NNZ()+int64(p.Majors()) <= shortWork)
}

// joinAlone is the number of elements of y that one worker joins faster than a second job of all workers.
const joinAlone = 1 << 12

// joined calls f(0) ... f(n-1) and, when all have ended, join(i, i+1) for each of them. If left then returns a small
// number of elements to join, the worker that ends last joins all of them: join(0, n).
func (run runner) joined(n int, f func(i int), left func() int, join func(i, end int)) error {
	if n == 1 {
		return run(1, f)
	}
	var ended atomic.Int32
	over := false
	err := run(n, func(i int) {
		f(i)
		if int(ended.Add(1)) == n && left() <= joinAlone {
			join(0, n)
			over = true
		}
	})
	if err != nil || over {
		return err
	}
	return run(n, func(i int) { join(i, i+1) })
}
