package msrep

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// build runs the steps that make the plan.
func (p *Plan[V]) build(ctx context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed { // the System was closed in the meantime
		return fmt.Errorf("plan: %w", ErrClosed)
	}
	steps := []struct {
		name string
		time *time.Duration
		do   func() error
	}{
		{"validate", &p.timing.Validate, func() error {
			if p.opt.SkipValidation || p.opt.nested {
				return nil
			}
			return p.src.Validate()
		}},
		{"convert", &p.timing.Convert, func() (err error) {
			p.lay, err = newLayout(p.src, p.opt.Storage.Format, p.opt.RefuseUnsorted)
			return err
		}},
		{"partition", &p.timing.Partition, p.split},
		{"distribute", &p.timing.Distribute, p.open},
		{"pack", &p.timing.Pack, func() error { return p.pack(ctx) }},
		{"partition", &p.timing.Partition, p.hostPointers},
		{"distribute", &p.timing.Distribute, p.distribute},
		{"partition", &p.timing.Partition, p.devicePointers},
		{"convert", &p.timing.Convert, p.compress},
		{"pack", &p.timing.Pack, func() error {
			if err := p.chooseCompressed(ctx); err != nil {
				return err
			}
			return p.transposeIfExpected(ctx)
		}},
		{"pack", &p.timing.Pack, p.release},
	}
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := time.Now()
		err := s.do()
		*s.time += time.Since(t)
		if p.sys.trace != nil {
			err = p.sys.trace(Event{Name: "plan: " + s.name, Start: t, Duration: time.Since(t), Err: err})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan[V]) split() (err error) {
	if p.opt.Deterministic {
		p.short = p.lay.longestMajor(0, p.lay.majors) <= kernels.FixedChunk
	}
	if p.placeable() {
		p.xPlace = p.chooseXPlacement()
		return p.splitByNode()
	}
	p.parts, p.rule, err = p.lay.split(len(p.sys.devices), p.opt.Variant.Split)
	return err
}

func (p *Plan[V]) open() error {
	p.shares = make([]*share[V], len(p.parts))
	return p.each(func(i int) error {
		s, err := newShare[V](p.sys.devices[i], p.opt.Variant.Strategy == Optimized)
		p.shares[i] = s
		s.stream = p.sys.traced(s.dev, s.stream)
		if err != nil {
			return err
		}
		s.part = p.parts[i]
		s.placed = len(p.nodes) > 0
		return nil
	})
}

// pack lets each device bring its part into a form.
func (p *Plan[V]) pack(ctx context.Context) error {
	chosen, err := p.choiceForms()
	if err != nil {
		return err
	}
	begin := time.Now()
	defer func() { p.noteDoubt(time.Since(begin)) }()
	return p.each(func(i int) error {
		s := p.shares[i]
		pack := func(o PlanOptions) error { return s.pack(ctx, p.lay, o, nil) }
		if chosen != nil {
			if err := s.packAs(chosen[i], p.opt, pack); err != nil {
				return err
			}
		} else if err := pack(p.opt); err != nil {
			return err
		}
		if s.packed != nil {
			s.doubt = s.packed.Info().Doubt
		}
		if s.packed == nil && s.inPlace == nil && p.lay.ptr != nil {
			s.longest = p.lay.longestMajor(s.part.First(), s.part.End())
		}
		return nil
	})
}

// distribute copies the parts that are not packed to the devices.
func (p *Plan[V]) distribute() error { return p.eachUnpacked((*share[V]).place) }

// hostPointers makes the local pointers of unpacked parts that the host makes.
func (p *Plan[V]) hostPointers() error { return p.eachUnpacked((*share[V]).hostPointers) }

// devicePointers makes the local pointers of unpacked parts that the devices make.
func (p *Plan[V]) devicePointers() error {
	return p.eachUnpacked(func(s *share[V], _ layout[V]) error { return s.devicePointers() })
}

// eachUnpacked calls f for each device whose part is not packed, as each does.
func (p *Plan[V]) eachUnpacked(f func(*share[V], layout[V]) error) error {
	return p.each(func(i int) error {
		if s := p.shares[i]; s.packed == nil {
			return f(s, p.lay)
		}
		return nil
	})
}

// each calls f for all devices at the same time, or one after the other with Baseline, and waits.
func (p *Plan[V]) each(f func(i int) error) error {
	if len(p.nodes) > 0 {
		return p.eachNode(func(n *nodeShare[V]) error { return n.eachDevice(f) })
	}
	if p.opt.Variant.Strategy != Baseline {
		return inParallel(len(p.parts), f)
	}
	errs := make([]error, len(p.parts))
	for i := range p.parts {
		errs[i] = f(i)
	}
	return joinErrors(errs)
}

// inParallel calls f(0) ... f(n-1) at the same time and waits.
func inParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	par.Do(n, func(i int) { errs[i] = f(i) })
	return joinErrors(errs)
}

// joinErrors returns the errors of several devices as one. An input error is returned alone, because it is the same for
// all devices.
func joinErrors(errs []error) error {
	for _, err := range errs {
		if err != nil && sparse.IsInput(err) {
			return err
		}
	}
	return errors.Join(errs...)
}
