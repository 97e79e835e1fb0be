package cpu

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/partition"
)

// runner calls f(0) ... f(n-1), which together make a product, and waits: pool.run or one of its like.
type runner func(n int, f func(i int)) error

// defaultGrain is how many entries and rows make one more worker worth having: to hand a job
// to one that looks for it takes half a microsecond, a thousand entries about a quarter.
const defaultGrain = 1 << 12

// shortWork is how many entries and rows take one worker about as long as to wake another.
const shortWork = 1 << 16

// workers is how many workers a product of a part has.
func (d *Device) workers(p partition.Part) int {
	return int(max(min(int64(d.info.Threads), (p.NNZ()+int64(p.Majors()))/d.grain), 1))
}

// runPart calls f(0) ... f(n-1), which together make a product of a part, and waits.
func (d *Device) runPart(p partition.Part, n int, f func(i int)) error {
	return d.pool.runJob(n, f, p.NNZ()+int64(p.Majors()) <= shortWork)
}

// joinAlone is how many elements of y are joined sooner by one worker than by another job of all.
const joinAlone = 1 << 12

// joined calls f(0) ... f(n-1) and, when all are over, join(i, i+1) for each of them. Where left tells
// then that few elements are to be joined the worker that ends last does it by itself: join(0, n).
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
