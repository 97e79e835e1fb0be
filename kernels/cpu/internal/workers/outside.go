package workers

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/msrep-go/msrep/kernels"
)

// outside is how a Pool of NewOutside runs jobs: on threads that belong to the program, such as those of OpenMP. Threads
// of two pools that both poll would take the CPUs from each other.
type outside struct {
	run    func(n int, f func(i int))
	jobs   int64          // jobs begun
	job    atomic.Int64   // number of the job that runs; 0 between two jobs
	active atomic.Int64   // calls of f that have not returned
	last   []atomic.Int64 // for each i, number of the last job that called f(i)
}

// runOutside is Run by p.outside. It refuses a run that does not call f(0) ... f(n-1) once each: f then computes no part
// twice, and nothing after runOutside has returned. The caller holds p.mu.
func (p *Pool) runOutside(n int, f func(i int)) error {
	if n == 1 {
		p.runOne(f, 0)
		return p.fault
	}
	o := &p.outside
	if len(o.last) < n {
		o.last = make([]atomic.Int64, n) // no call of f is active
	}
	o.jobs++
	job, last := o.jobs, o.last[:n]
	var calls, wrong atomic.Int64
	o.job.Store(job)
	err := call(func(int) {
		o.run(n, func(i int) {
			o.active.Add(1)
			defer o.active.Add(-1)
			switch {
			case o.job.Load() != job: // after run has returned
			case i < 0 || i >= n || last[i].Swap(job) == job:
				wrong.Add(1)
			default:
				p.runOne(f, i)
				calls.Add(1)
			}
		})
	}, 0)
	early := calls.Load()
	o.job.Store(0)
	for o.active.Load() > 0 { // run has returned too early
		runtime.Gosched()
	}
	switch {
	case p.fault != nil:
		return p.fault
	case err != nil:
		return err
	case wrong.Load() > 0 || early != int64(n):
		return fmt.Errorf("%w: Config.Run called f %d times for n = %d: it must call f once with each number from 0 to n-1 and return after these calls",
			kernels.ErrArgument, early+wrong.Load(), n)
	}
	return nil
}
