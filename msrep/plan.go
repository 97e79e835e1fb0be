package msrep

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Plan is a matrix that was split and placed once, to be multiplied many times.
//
// A plan may use the arrays of its matrix in place: do not change them while it
// is open, other than through UpdateValues. Its methods may be called from any
// goroutine; products of one plan run one after the other.
type Plan[V sparse.Value] struct {
	sys    *System
	opt    PlanOptions
	rule   partition.Rule
	timing PlanTiming

	mu     sync.Mutex
	src    sparse.Matrix[V] // as given; nil once closed, or released
	closed bool
	nnz    int64
	lay    layout[V]
	parts  []partition.Part
	shares []*share[V]
	nodes  []*nodeShare[V]  // of a placed plan
	xPlace XPlacement       // of products that gather, where devices work in place and the plan is placed
	x      kernels.Array[V] // the interleaved copy of x, made by the first product that wants one
	byRow  turnedBlocks[V]  // of products with blocks by column
	other  *Plan[V]         // for products that would scatter here; nil where there are few
	short  bool             // no major is longer than a chunk; known where the plan is deterministic
	lanes  *lanes           // the streams of the shares, where these join their results among themselves
	flying *lanes           // on which products of vectors may be under way; nil for none
	broken error            // why the plan can't be used any more
}

// Share describes one device's part of a plan.
type Share struct {
	Device int // index in System.Devices
	Part   partition.Part
}

// NewPlan splits a among the devices of sys. Bad arguments are
// *sparse.InputError; device errors are *kernels.DeviceError. When it fails,
// nothing stays allocated.
func NewPlan[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt PlanOptions) (p *Plan[V], err error) {
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	if ctx == nil {
		return nil, errNilContext
	}
	if isNil(a) {
		return nil, sparse.Inputf("matrix", "is nil")
	}
	if err := opt.fill(a.Format()); err != nil {
		return nil, err
	}
	return newPlan(ctx, sys, a, opt)
}

// newPlan is NewPlan with options that were checked.
func newPlan[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt PlanOptions) (p *Plan[V], err error) {
	p = &Plan[V]{sys: sys, opt: opt, src: a, nnz: a.NNZ()}
	if err := sys.enter(p); err != nil {
		return nil, err
	}
	made := p
	defer func() { // also after a panic
		if err != nil {
			err = errors.Join(err, made.Close())
			p = nil
		}
	}()
	defer rescue(&err)
	return p, p.build(ctx)
}

func (p *Plan[V]) build(ctx context.Context) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed { // the System was closed since
		return fmt.Errorf("plan: %w", ErrClosed)
	}
	steps := []struct {
		name string
		time *time.Duration
		do   func() error
	}{
		{"validate", &p.timing.Validate, func() error {
			if p.opt.SkipValidation {
				return nil
			}
			return p.src.Validate()
		}},
		{"convert", &p.timing.Convert, func() (err error) {
			p.lay, err = newLayout(p.src, p.opt.Format, p.opt.RefuseUnsorted)
			return err
		}},
		{"partition", &p.timing.Partition, p.split},
		{"distribute", &p.timing.Distribute, p.open},
		{"pack", &p.timing.Pack, func() error { return p.pack(ctx) }},
		{"distribute", &p.timing.Distribute, p.distribute},
		{"partition", &p.timing.Partition, p.pointers},
		{"pack", &p.timing.Pack, func() error { return p.turn(ctx) }},
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
			p.sys.trace(Event{Name: "plan: " + s.name, Start: t, Duration: time.Since(t), Err: err})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan[V]) split() (err error) {
	if p.opt.Deterministic {
		p.short = p.lay.longest() <= kernels.FixedChunk
	}
	if p.placeable() {
		p.xPlace = p.chooseX()
		return p.splitByNode()
	}
	p.parts, p.rule, err = p.lay.split(len(p.sys.devices), p.opt.Split)
	return err
}

func (p *Plan[V]) open() error {
	p.shares = make([]*share[V], len(p.parts))
	return p.each(func(i int) error {
		s, err := newShare[V](p.sys.devices[i], p.opt.Strategy == Optimized)
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

// pack lets devices bring their parts into forms of their own.
func (p *Plan[V]) pack(ctx context.Context) error {
	return p.each(func(i int) error { return p.shares[i].pack(ctx, p.lay, p.opt) })
}

// distribute brings the parts that are not packed to the devices as they are.
func (p *Plan[V]) distribute() error {
	return p.each(func(i int) error {
		if p.shares[i].packed != nil {
			return nil
		}
		return p.shares[i].place(p.lay)
	})
}

func (p *Plan[V]) pointers() error {
	return p.each(func(i int) error {
		if p.shares[i].packed != nil {
			return nil
		}
		return p.shares[i].placePointers(p.lay)
	})
}

// each serves all devices, one goroutine for each, or one after the other for the
// baseline.
func (p *Plan[V]) each(f func(i int) error) error {
	if len(p.nodes) > 0 {
		return p.eachNode(func(n *nodeShare[V]) error { return n.eachOf(f) })
	}
	errs := make([]error, len(p.parts))
	if p.opt.Strategy == Baseline {
		for i := range p.parts {
			errs[i] = f(i)
		}
	} else {
		par.Do(len(p.parts), func(i int) { errs[i] = f(i) })
	}
	return joined(errs)
}

// joined is the errors of several devices: all of them, or one that says what is
// wrong with the input, which is the same for all.
func joined(errs []error) error {
	for _, err := range errs {
		if sparse.IsInput(err) {
			return err
		}
	}
	return errors.Join(errs...)
}

// Dims gives the number of rows and columns of A.
func (p *Plan[V]) Dims() (rows, cols int) {
	if p.lay.byRow {
		return p.lay.majors, p.lay.minors
	}
	return p.lay.minors, p.lay.majors
}

// NNZ is the number of stored entries.
func (p *Plan[V]) NNZ() int64 { return p.nnz }

// Format is the format that is multiplied in.
func (p *Plan[V]) Format() sparse.Format { return p.lay.format }

// Rule is the rule by which the matrix was split.
func (p *Plan[V]) Rule() partition.Rule { return p.rule }

// Deterministic reports whether products have the same bits on all devices; see
// PlanOptions.Deterministic.
func (p *Plan[V]) Deterministic() bool { return p.opt.Deterministic }

// Timing is how long it took to make the plan.
func (p *Plan[V]) Timing() PlanTiming { return p.timing }

// Shares describes the parts, one per device.
func (p *Plan[V]) Shares() []Share {
	out := make([]Share, len(p.parts))
	for i, q := range p.parts {
		out[i] = Share{i, q}
	}
	return out
}

// Bytes is the device memory that the plan holds now, without what it uses in
// place.
func (p *Plan[V]) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for _, s := range p.shares {
		for _, b := range s.buffers() {
			sum += b.Bytes()
		}
	}
	for _, n := range p.nodes {
		if n.x.Buf != nil {
			sum += n.x.Buf.Bytes()
		}
	}
	if p.x.Buf != nil {
		sum += p.x.Buf.Bytes()
	}
	sum += p.byRow.bytes()
	if p.other != nil {
		sum += p.other.Bytes()
	}
	return sum
}

// UpdateValues replaces the values and keeps the structure: val[k] belongs to
// the entry whose value was Val[k] in the matrix that the plan was made of. The
// plan may use val in place from then on.
func (p *Plan[V]) UpdateValues(ctx context.Context, val []V) (err error) {
	defer rescue(&err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if p.src == nil || p.other != nil && p.other.src == nil { // before anything changes
		return errReleased
	}
	if int64(len(val)) != p.nnz {
		return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), p.nnz)
	}
	src := withValues(p.src, val)
	lay, err := newLayout(src, p.opt.Format, p.opt.RefuseUnsorted)
	if err != nil {
		return err
	}
	if err := p.land(); err != nil {
		p.broken = err
		return err
	}
	p.src, p.lay.val = src, lay.val
	if err := p.each(func(i int) error {
		return errors.Join(p.shares[i].placeValues(p.lay), p.shares[i].repack(ctx, p.lay, p.opt))
	}); err != nil {
		p.broken = err
		return err
	}
	if p.other != nil { // both or none: ctx is not looked at any more
		if err := p.other.UpdateValues(context.WithoutCancel(ctx), val); err != nil {
			p.broken = err
			return err
		}
	}
	return nil
}

// Close releases what the plan holds, after a product that is running. It may be
// called again.
func (p *Plan[V]) Close() error {
	if p == nil || p.sys == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed, p.src = true, nil
	p.sys.leave(p)
	errs := []error{p.land(), p.other.Close(), p.x.Free(), p.byRow.free()}
	for i, s := range p.shares {
		if p.lanes != nil {
			errs = append(errs, p.lanes.unmark(i))
		}
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	for _, n := range p.nodes {
		errs = append(errs, n.x.Free())
	}
	p.nodes, p.shares, p.lay.ptr, p.lay.major, p.lay.val = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

func (p *Plan[V]) usable(ctx context.Context) error {
	switch {
	case ctx == nil:
		return errNilContext
	case p.sys == nil:
		return errNoPlan
	case p.closed:
		return fmt.Errorf("plan: %w", ErrClosed)
	case p.broken != nil:
		return fmt.Errorf("plan: unusable after an earlier error: %w", p.broken)
	}
	return ctx.Err()
}

var (
	errNilContext = sparse.Inputf("ctx", "is nil: use context.Background()")
	errNoPlan     = sparse.Inputf("plan", "was not made by NewPlan")
)

// rescue turns a panic into an error: none crosses the public API.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("msrep: internal error: %v\n%s", r, debug.Stack())
	}
}

// isNil also finds nil pointers in an interface.
func isNil(a any) bool {
	if a == nil {
		return true
	}
	v := reflect.ValueOf(a)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
