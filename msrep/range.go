package msrep

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// goroutineGrain is the smallest piece of work for a new goroutine, as a multiple of the smallest piece for a worker
// that polls for work.
const goroutineGrain = 4

// Range cuts [0, n) into equal chunks of at least grain items, calls f(lo, hi) for all chunks at the same time, and
// waits. It is meant for loops over vectors in host memory between products. If the System has a single CPU device, its
// workers call f: after a product they poll for more work for a short time and would slow down new goroutines. Choose a
// grain of at least half a microsecond of work. On other systems, new goroutines call f, each with at least 4*grain
// items.
//
// A panic in f becomes an error; f may then have been called for only some of the chunks. The plan can still be used. f
// must not use the System. Range does not wait for a running product. It returns ErrClosed if the System is closed and
// its workers would call f.
func (p *Plan[V]) Range(n, grain int, f func(lo, hi int)) (err error) {
	if p == nil || p.sys == nil {
		return errNoPlan
	}
	if f == nil {
		return sparse.Inputf("f", "is nil")
	}
	if n <= 0 {
		return nil
	}
	grain = min(max(grain, 1), n)
	defer func() {
		if panicked, ok := errors.AsType[*crash.Error](err); ok { // of a worker or of this goroutine
			err = fmt.Errorf("f: panicked: %w", panicked)
		}
	}()
	each := func(lo, hi int64) { f(int(lo), int(hi)) }
	if w := p.workers(); w != nil {
		if err = rangeOn(w, min(w.Info().Threads, n/grain), int64(n), each); errors.Is(err, kernels.ErrClosed) {
			return fmt.Errorf("system: %w", ErrClosed)
		}
		return err
	}
	defer rescue.To(&err)
	par.Range(int64(n), goroutineGrain*int64(grain), each)
	return nil
}

// workers returns the workers of the CPU device if it is the only device of the System, otherwise nil.
func (p *Plan[V]) workers() kernels.Workers {
	if w, ok := p.sys.devices().List[0].(kernels.Workers); ok && len(p.sys.devices().List) == 1 && len(p.sys.nodes.Groups) == 0 {
		return w
	}
	return nil
}

// rangeOn cuts [0, n) into equal pieces for max(t, 1) workers and calls f for each piece.
func rangeOn(w kernels.Workers, t int, n int64, f func(lo, hi int64)) error {
	t = max(t, 1)
	return w.Run(t, func(i int) { f(par.Cut(n, t, i), par.Cut(n, t, i+1)) })
}
