package msrep

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/sparse"
)

// goroutineGrain is how many times as much a goroutine must have to do to be worth it as a worker
// that looks for work.
const goroutineGrain = 4

// Range cuts [0, n) into equal pieces of at least grain items, calls f(lo, hi) for each, at the
// same time, and waits until all are done. It is for what is done with vectors in host memory
// between products. Where the System has one CPU device its workers call f: after a product
// they go on looking for work for a moment, and would keep goroutines from their CPUs meanwhile.
// With them, choose a grain of half a microsecond of work or more. Otherwise new goroutines call
// f, with at least 4*grain items each.
//
// A panic of f becomes an error that says so; whether f was called for all pieces is then
// unspecified, and the plan can still be used. f must not use the System. Range does not wait for
// a product that is under way. Where the workers of a closed System would have to call f, it gives
// ErrClosed.
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
		if panicked, ok := errors.AsType[*crash.Error](err); ok { // wherever it was recovered
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
	defer rescue(&err)
	par.Range(int64(n), goroutineGrain*int64(grain), each)
	return nil
}

// workers is the workers of the only CPU device; nil where there are other devices, or none.
func (p *Plan[V]) workers() cpu.Workers {
	if w, ok := p.sys.devices[0].(cpu.Workers); ok && len(p.sys.devices) == 1 && len(p.sys.nodes) == 0 {
		return w
	}
	return nil
}

// rangeOn cuts [0, n) into equal pieces for t workers, one at least, and calls f for each.
func rangeOn(w cpu.Workers, t int, n int64, f func(lo, hi int64)) error {
	t = max(t, 1)
	return w.Run(t, func(i int) { f(par.Cut(n, t, i), par.Cut(n, t, i+1)) })
}
