package workers

import (
	"cmp"
	"sync/atomic"

	"github.com/msrep-go/msrep/partition"
)

// Runner calls f(0) ... f(n-1), which together compute a product, and waits. Pool.Run is one.
type Runner func(n int, f func(i int)) error

// DefaultGrain is the number of entries and rows for which one more worker pays: handing a job to a polling worker
// takes half a microsecond, a thousand entries about a quarter.
const DefaultGrain = 1 << 12

// shortWork is the number of entries and rows that take one worker about as long as waking another.
const shortWork = 1 << 16

// For returns the number of workers for a product of a part.
func (p *Pool) For(q partition.Part) int {
	return int(max(min(int64(p.Size), (q.NNZ()+int64(q.Majors()))/p.grain), 1))
}

// RunPart calls f(0) ... f(n-1), which together compute a product of a part, and waits.
func (p *Pool) RunPart(q partition.Part, n int, f func(i int)) error {
	return p.runJob(n, f, q.NNZ()+int64(q.Majors()) <= shortWork)
}

// joinAlone is the number of elements of y that one worker joins faster than a second job of all workers.
const joinAlone = 1 << 12

// Joined calls f(0) ... f(n-1) and, when all have ended, join(i, i+1) for each of them. If left then returns a small
// number of elements to join, the worker that ends last joins all of them: join(0, n).
func (run Runner) Joined(n int, f func(i int), left func() int, join func(i, end int)) error {
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

// Each is Run for calls that may fail. It returns the first error; workers mostly fail for the same reason.
func (p *Pool) Each(n int, f func(i int) error) error {
	errs := make([]error, n)
	err := p.Run(n, func(i int) { errs[i] = f(i) })
	return cmp.Or(cmp.Or(errs...), err)
}

// EachTimed is Timed for calls that may fail.
func (p *Pool) EachTimed(n int, f func(i int) error) (Work, error) {
	errs := make([]error, n)
	w, err := p.Timed(n, func(i int) { errs[i] = f(i) })
	return w, cmp.Or(cmp.Or(errs...), err)
}
