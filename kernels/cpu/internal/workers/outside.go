package workers

import (
	"fmt"
	"sync/atomic"

	"github.com/msrep-go/msrep/kernels"
)

// outside is how a Pool of NewOutside runs jobs: on threads that belong to the program, such as those of OpenMP. Threads
// of two pools that both poll would take the CPUs from each other.
type outside struct {
	run   func(n int, f func(i int))
	calls atomic.Int64 // calls of f in this job
}

// runOutside is Run by p.outside. The caller holds p.mu.
func (p *Pool) runOutside(n int, f func(i int)) error {
	if n == 1 {
		p.runOne(f, 0)
		return p.fault
	}
	p.outside.calls.Store(0)
	err := call(func(int) {
		p.outside.run(n, func(i int) {
			p.outside.calls.Add(1)
			p.runOne(f, i)
		})
	}, 0)
	if calls := p.outside.calls.Load(); err == nil && p.fault == nil && calls != int64(n) {
		return fmt.Errorf("%w: Config.Run called f %d times for n = %d", kernels.ErrArgument, calls, n)
	}
	if p.fault != nil {
		return p.fault
	}
	return err
}
