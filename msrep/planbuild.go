package msrep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/msrep/internal/reorder"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// build runs the steps that make the plan.
func (p *Plan[V]) build(ctx context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed { // the System was closed in the meantime
		return fmt.Errorf("plan: %w", ErrClosed)
	}
	for _, s := range []struct {
		name string
		time *time.Duration
		do   func(context.Context) error
	}{
		{"validate", &p.timing.Validate, p.validate},
		{"convert", &p.timing.Convert, p.convert},
		{"partition", &p.timing.Partition, p.split},
		{"distribute", &p.timing.Distribute, p.distribute},
		{"pack", &p.timing.Pack, p.pack},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := time.Now()
		err := s.do(ctx)
		*s.time += time.Since(t)
		if p.sys.trace != nil {
			err = p.sys.trace(Event{Name: "plan: " + s.name, Start: t, Duration: time.Since(t), Err: err})
		}
		if err != nil {
			return err
		}
	}
	p.route = p.newRoute()
	return nil
}

func (p *Plan[V]) validate(context.Context) error {
	if p.opt.SkipValidation || p.opt.nested {
		return nil
	}
	return p.src.Validate()
}

// convert brings the matrix into the order of the plan and the format of the split.
func (p *Plan[V]) convert(ctx context.Context) (err error) {
	if p.reorders() {
		weights := p.sys.weights
		if weights == nil {
			weights = slices.Repeat([]int{1}, len(p.sys.devices().List))
		}
		p.order, err = reorder.New(ctx, p.src, weights, p.opt.Deterministic, p.opt.RefuseUnsorted)
		if err != nil {
			return err
		}
		if p.order != nil {
			p.src, p.opt.cuts = p.order.Matrix(), &p.order.Cuts
		}
	}
	p.lay, err = p.layoutOf(p.src)
	return err
}

// reorders reports whether PlanOptions.Reorder is set and applies.
func (p *Plan[V]) reorders() bool {
	rows, cols := p.src.Dims()
	return p.opt.Reorder && !p.opt.nested && rows == cols && len(p.sys.devices().List) > 1 && p.transfer() == localByDevice
}

// layoutOf returns a matrix in the format of the split.
func (p *Plan[V]) layoutOf(src sparse.Matrix[V]) (layout.Matrix[V], error) {
	return layout.New(src, p.opt.Storage.Format, p.opt.RefuseUnsorted && p.order == nil && !p.opt.nested)
}

// maxImbalance is the imbalance of the parts of a reordered matrix beyond which the matrix is split by another rule, which cuts
// long rows.
const maxImbalance = 1.1

// split splits the matrix among the devices, or in two levels, first among the nodes.
func (p *Plan[V]) split(context.Context) (err error) {
	if p.opt.Deterministic {
		p.short = p.lay.LongestMajor(0, p.lay.Majors) <= kernels.FixedChunk
	}
	devices, weights := p.sys.devices().List, p.weights()
	if cuts := p.opt.cuts; cuts != nil && cuts.Suit(weights) && !p.lay.COO() && (p.opt.Variant.Split == partition.RuleAuto || p.opt.Variant.Split == partition.RuleWhole) {
		p.rule = partition.RuleWhole
		p.parts, err = partition.SplitAt(p.lay.Ptr, cuts.At)
		if err != nil || p.opt.Deterministic || cuts.Imbalance(p.parts) <= maxImbalance {
			return err
		}
	}
	placed := p.placeable()
	if !placed && weights == nil {
		p.parts, p.rule, err = p.lay.Split(len(devices), p.opt.Variant.Split)
		return err
	}
	whole, rule, err := p.lay.Split(1, p.opt.Variant.Split)
	if err != nil {
		return err
	}
	p.rule = rule
	if !placed {
		p.parts, err = p.lay.SplitPart(whole[0], weights, rule)
		return err
	}
	parts, err := p.lay.SplitPart(whole[0], p.sys.nodes.NodeWeights(weights), rule)
	if err != nil {
		return err
	}
	if weights == nil {
		weights = slices.Repeat([]int{1}, len(devices))
	}
	p.nodes = p.sys.nodes.Groups
	p.parts = make([]Part, len(devices))
	return devvec.InParallel(len(p.nodes), func(k int) error {
		n := p.nodes[k]
		return placement.OnNode(devices[n.First], func() error {
			inner, err := p.lay.SplitPart(parts[k], weights[n.First:n.End], rule)
			copy(p.parts[n.First:n.End], inner)
			return err
		})
	})
}

// weights returns the weights of the parts of the devices: in proportion to the bandwidth of their memory, bounded by
// the memory that is free; nil for equal parts, as with Baseline.
func (p *Plan[V]) weights() []int {
	if p.opt.Variant.Strategy == Baseline {
		return nil
	}
	size := mem.Size[V]()
	vectors := size * int64(p.lay.Minors+p.lay.Majors) // at most
	return placement.BoundWeights(p.sys.weights, p.sys.devices().List, p.lay.Bytes()+p.lay.Bytes()/4, vectors)
}

// placeable reports whether the plan is split and placed by node. If a copy would take more than half of the memory of a
// node, the matrix is used in place, except with Partial, which always copies.
func (p *Plan[V]) placeable() bool {
	switch {
	case len(p.sys.nodes.Groups) == 0 || p.opt.Variant.Strategy == Baseline:
		return false
	case p.opt.Variant.Strategy == Partial:
		return true
	}
	lacks := p.sys.nodes.Lacks(p.lay.Bytes())
	if lacks != "" {
		p.sys.refusal.Report(lacks)
	}
	return lacks == ""
}

// distribute makes the shares, and brings the parts to the devices if they get no form.
func (p *Plan[V]) distribute(ctx context.Context) error {
	p.shares = make([]*share[V], len(p.parts))
	_, byMajor, keepCOO := p.compressProducts()
	if keepCOO {
		byMajor = p.lay.ByMajor(bool(NoTrans))
	}
	xCuts := p.haloCuts()
	err := p.each(func(i int) (err error) {
		s, err := newShare[V](p.sys.devices(), i, p.parts[i], p.transfer(), xCuts)
		if p.shares[i] = s; err != nil || p.opt.form != "" && !p.lay.COO() {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.place(&p.lay, byMajor); err != nil || keepCOO {
			return err
		}
		return s.compress(&p.lay)
	})
	p.bookPlacing(&p.timing.Distribute)
	return err
}

// pack lets each device bring its part into a form, or its arrays to the device if it chooses no form, and makes the plan
// of the transposed matrix.
func (p *Plan[V]) pack(ctx context.Context) error {
	chosen, err := p.choiceForms()
	if err != nil {
		return err
	}
	begin := time.Now()
	err = p.each(func(i int) error {
		s := p.shares[i]
		var err error
		if chosen != nil {
			s.packed, err = s.packAs(ctx, chosen[i], &p.lay, p.opt)
		} else {
			s.packed, err = s.pack(ctx, &p.lay, p.opt, nil)
		}
		if err == nil && s.packed == nil {
			return s.place(&p.lay, p.lay.ByMajor(bool(NoTrans)))
		}
		if err == nil {
			s.doubt = s.packed.Info().Doubt
		}
		return err
	})
	p.noteDoubt(time.Since(begin))
	p.bookPlacing(&p.timing.Pack)
	if err == nil {
		err = p.each(func(i int) error { return p.chooseCompressed(ctx, p.shares[i]) })
	}
	if err == nil {
		err = p.transposeIfExpected(ctx)
	}
	if err == nil {
		p.release()
	}
	return err
}

// bookPlacing moves the time that devices took to bring arrays to them from a phase to the phases that PlanTiming states.
func (p *Plan[V]) bookPlacing(phase *time.Duration) {
	var all, pointers, coo time.Duration
	for _, s := range p.shares {
		if s == nil {
			continue
		}
		t := &s.placing
		all, pointers, coo = p.together(all, t.all), p.together(pointers, t.pointers), p.together(coo, t.cooPointers)
		*t = placingTimes{}
	}
	p.timing.Partition += pointers
	p.timing.Convert += coo
	p.timing.Distribute += all - pointers
	*phase -= all + coo
}

// each calls f for all devices at the same time, or one after the other with Baseline, and waits.
func (p *Plan[V]) each(f func(i int) error) error {
	if p.opt.Variant.Strategy != Baseline {
		return devvec.InParallel(len(p.parts), f)
	}
	errs := make([]error, len(p.parts))
	for i := range p.parts {
		errs[i] = f(i)
	}
	return devvec.JoinErrors(errs)
}
