package msrep

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/kernels"
)

// Retune looks again for the forms in which the devices multiply their parts fastest, and takes those of which it is
// as sure as of the ones that the plan has (kernels.PackInfo.Doubt). A plan does so by itself where its forms
// were chosen while other processes had the CPUs: after products that took some time, a few times at
// most. Call Retune where a better moment is known, such as a machine that has become idle.
//
// It takes as long as making the plan, and as much memory again meanwhile; products wait. Where forms change, sums
// are rounded in another order from then on, unless the plan is Deterministic. It does nothing for a plan whose Format
// was named. After an error the plan goes on with the forms that it has, other than after a panic. With
// PlanOptions.Storage.Release it is a *sparse.InputError.
func (p *Plan[V]) Retune(ctx context.Context) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer p.rescue(&err)
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	defer p.span("retune", &err)()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if p.src == nil || p.transposed.released() {
		return errNoRows
	}
	if err := p.retune(ctx); err != nil || p.transposed == nil {
		return err
	}
	return p.transposed.Retune(ctx)
}

// later is when a plan whose forms are in doubt looks for others.
type later struct {
	doubt float64       // of the forms; see kernels.PackInfo
	cost  time.Duration // of the last look
	looks int
	busy  time.Duration // products since the last look
}

const (
	// Forms that are likelier than this to be missed are looked at again...
	mostDoubt = 0.05
	// ...after products that took so many times as long as the last look, and twice as many after each, ...
	laterAfter = 32
	// ...so often at most.
	mostLooks = 6
)

// due reports whether it is time to look.
func (l *later) due() bool {
	return l.doubt > mostDoubt && l.looks < mostLooks && l.busy >= laterAfter*l.cost<<l.looks
}

// lookAgain is Retune before a product, where that is due. It fails where ctx ends only: otherwise the forms that
// the plan has will do.
func (p *Plan[V]) lookAgain(ctx context.Context) error {
	if !p.later.due() || p.src == nil {
		return nil
	}
	p.later.looks++
	if err := p.retune(ctx); err != nil {
		if ctx.Err() != nil {
			p.later.looks--
			return ctx.Err()
		}
		p.later.looks = mostLooks
	}
	return nil
}

// retune is Retune for those who hold the plan, without that of the transposed matrix.
func (p *Plan[V]) retune(ctx context.Context) error {
	if p.opt.form != kernels.FormAuto {
		return nil
	}
	if err := p.waitPending(); err != nil {
		return err
	}
	begin := time.Now()
	if err := p.each(func(i int) error { return p.shares[i].retune(ctx, p.lay, p.opt) }); err != nil {
		ended.Once(ctx, &err)
		return err
	}
	p.opt.Storage.Choice = "" // what it named may be gone
	p.noteDoubt(time.Since(begin))
	return nil
}

// noteDoubt keeps how sure the forms of all shares are, and what it took to find them.
func (p *Plan[V]) noteDoubt(cost time.Duration) {
	p.later.doubt, p.later.cost, p.later.busy = 0, cost, 0
	for _, s := range p.shares {
		p.later.doubt = max(p.later.doubt, s.doubt)
	}
}

// retune packs the part again, and keeps the surer of its two forms.
func (s *share[V]) retune(ctx context.Context, l layout[V], o PlanOptions) error {
	old, doubt := s.packed, s.doubt
	if old == nil {
		return nil
	}
	err := s.pack(ctx, l, o, nil)
	if s.packed == nil || err != nil {
		fresh := s.packed
		s.packed = old
		if fresh != nil {
			err = errors.Join(err, fresh.Free())
		}
		return err
	}
	found := s.packed.Info()
	if found.Form == old.Info().Form || found.Doubt > doubt {
		fresh := s.packed
		s.packed, s.doubt = old, min(doubt, found.Doubt)
		if found.Form != old.Info().Form {
			s.doubt = doubt
		}
		return fresh.Free()
	}
	s.doubt = found.Doubt
	return old.Free()
}
