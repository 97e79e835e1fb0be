package msrep

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
)

// Retune searches again for the fastest form of each part. It keeps the present form of a part if the new choice is
// less certain (has a larger kernels.PackInfo.Doubt). If its forms were chosen while other processes used the CPUs, a
// plan retunes by itself, a few times at most. Call Retune to choose the moment yourself, for example when the machine
// has become idle.
//
// Retune takes as long as NewPlan, and temporarily as much memory again; products wait for it. If a form changes,
// sums are rounded in another order from then on, unless the plan is Deterministic. Retune does nothing if the
// options prescribe the format or the form. After an error, except after a panic, the plan keeps its present forms.
// With PlanOptions.Storage.Release, Retune returns a *sparse.InputError.
func (p *Plan[V]) Retune(ctx context.Context) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.rescue(&err)
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	defer p.traceCall("retune", &err)()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if p.src == nil || p.transposed.released() {
		return errRetuneReleased
	}
	if err := p.retune(ctx); err != nil || p.transposed == nil {
		return err
	}
	return p.transposed.Retune(ctx)
}

// retuneState decides when a plan whose forms are uncertain searches again.
type retuneState struct {
	doubt       float64       // largest doubt of the forms; see kernels.PackInfo
	cost        time.Duration // duration of the last search
	attempts    int           // searches so far, without NewPlan
	productTime time.Duration // total time of the products since the last search
}

const (
	// maxDoubt is the largest doubt with which forms are kept without another search.
	maxDoubt = 0.05
	// retuneAfter is the time of the products before the first new search, as a multiple of the time of the last
	// search. It doubles with each search.
	retuneAfter = 32
	// maxRetunes is the largest number of searches.
	maxRetunes = 6
)

// due reports whether the plan should search now.
func (l *retuneState) due() bool {
	return l.doubt > maxDoubt && l.attempts < maxRetunes && l.productTime >= retuneAfter*l.cost<<l.attempts
}

// retuneIfDue retunes before a product if that is due. It fails only if ctx ends. After any other error the plan
// keeps its forms and does not try again.
func (p *Plan[V]) retuneIfDue(ctx context.Context) error {
	if !p.retuning.due() || p.src == nil {
		return nil
	}
	p.retuning.attempts++
	if err := p.retune(ctx); err != nil {
		if ctx.Err() != nil {
			p.retuning.attempts--
			return ctx.Err()
		}
		p.retuning.attempts = maxRetunes
	}
	return nil
}

// retune is Retune for callers that hold p.mu, without the plan of the transposed matrix.
func (p *Plan[V]) retune(ctx context.Context) error {
	if p.opt.form != kernels.FormAuto {
		return nil
	}
	if err := p.waitPending(); err != nil {
		return err
	}
	begin := time.Now()
	if err := p.each(func(i int) error { return p.shares[i].retune(ctx, &p.lay, p.opt) }); err != nil {
		ended.ByContext(ctx, &err)
		return err
	}
	p.opt.Storage.Choice = "" // its forms may have been replaced
	p.noteDoubt(time.Since(begin))
	return nil
}

// noteDoubt stores the largest doubt of the forms of all shares, and the time that the search took.
func (p *Plan[V]) noteDoubt(cost time.Duration) {
	p.retuning.doubt, p.retuning.cost, p.retuning.productTime = 0, cost, 0
	for _, s := range p.shares {
		p.retuning.doubt = max(p.retuning.doubt, s.doubt)
	}
}

// retune packs the part again and keeps the form with less doubt.
func (s *share[V]) retune(ctx context.Context, l *layout.Matrix[V], o PlanOptions) error {
	old := s.packed
	if old == nil {
		return nil
	}
	fresh, err := s.pack(ctx, l, o, nil)
	if fresh == nil {
		return err
	}
	if found := fresh.Info(); err == nil && found.Form == old.Info().Form {
		s.doubt = min(s.doubt, found.Doubt)
	} else if err == nil && found.Doubt <= s.doubt {
		s.packed, s.doubt = fresh, found.Doubt
		return old.Free()
	}
	return errors.Join(err, fresh.Free())
}
