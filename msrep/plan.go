package msrep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/msrep-go/msrep/internal/crash"
	"github.com/msrep-go/msrep/internal/ended"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// Plan is a matrix that was split and placed once, to be multiplied many times.
//
// A plan may use the arrays of its matrix in place: do not change them while it is
// open, other than through UpdateValues. Its methods may be called from any goroutine;
// products of one plan run one after the other, and a context that ends ends the wait
// for a turn as well. When a device fails in a call of a plan (*kernels.DeviceError)
// the plan can only be closed; other plans go on.
type Plan[V sparse.Value] struct {
	sys    *System
	opt    PlanOptions
	rule   partition.Rule
	timing PlanTiming
	last   Timing // of the last product

	mu      sync.Mutex
	callers callerSchedule   // whether its products are made by those that ask for them
	src     sparse.Matrix[V] // as given; nil once closed, or released
	given   []V              // its values, of which lay may have a copy
	closed  bool
	nnz     int64
	lay     layout[V]
	parts   []partition.Part
	shares  []*share[V]
	nodes   []*nodeShare[V]      // of a placed plan
	xPlace  XPlacement           // of products that gather, where devices work in place and the plan is placed
	x       kernels.Array[V]     // the interleaved copy of x, made by the first product that wants one
	byRow   transposedVectors[V] // of products with blocks by column
	short   bool                 // no major is longer than a chunk; known where the plan is deterministic
	streams *vectorStreams       // the streams of the shares, where these join their results among themselves
	pending *vectorStreams       // on which products of vectors may be under way; nil for none
	run     run[V]               // the product under way
	broken  error                // why the plan can't be used any more
	later   later                // when it looks for other forms

	transposed    *Plan[V] // of the transposed matrix, for products that would scatter here; nil where they do scatter
	minorProducts int      // such products that nobody announced, as transposeLater counts them
}

// NewPlan splits a among the devices of sys and brings each part into the form in which
// its device multiplies it fastest, as opt says. It checks the matrix first
// (PlanOptions.SkipValidation). Bad arguments are *sparse.InputError; device errors are
// *kernels.DeviceError. When it fails, nothing stays allocated.
func NewPlan[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt PlanOptions) (p *Plan[V], err error) {
	defer rescue(&err) // of a matrix that embeds none
	if err := cmp.Or(given.Check("system", sys), given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	a = plain(a)
	if err := cmp.Or(given.Check("matrix", a), opt.fill(a.Format())); err != nil {
		return nil, err
	}
	return newPlan(ctx, sys, a, opt)
}

// newPlan is NewPlan with options that were checked.
func newPlan[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt PlanOptions) (p *Plan[V], err error) {
	p = &Plan[V]{sys: sys, opt: opt, src: a, given: values(a), nnz: a.NNZ()}
	if err := sys.enter(p); err != nil {
		return nil, err
	}
	made := p
	defer func() { // also after a panic
		if err != nil {
			ended.Once(ctx, &err)
			err = errors.Join(made.unchecked(err), made.Close())
			p = nil
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	return p, p.build(ctx)
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
	p.closed, p.src, p.given = true, nil, nil
	defer p.sys.leave(p) // whose Close waits for this one until then
	errs := []error{p.waitPending(), p.transposed.Close(), p.x.Free(), p.byRow.free()}
	for i, s := range p.shares {
		if p.streams != nil {
			errs = append(errs, p.streams.closeEvents(i))
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

// enter locks mu for a call of the plan, or gives up its turn where ctx ends before it comes. There
// may be no plan.
func (p *Plan[V]) enter(ctx context.Context) error {
	if p == nil {
		return errNoPlan
	}
	if p.mu.TryLock() {
		return nil
	}
	if err := p.await(ctx); err != nil {
		return err
	}
	p.callers.lastWait = time.Since(began)
	if p.transposed != nil { // for whose products they wait here
		p.transposed.callers.lastWait = p.callers.lastWait
	}
	return nil
}

// await is enter where another caller holds mu.
func (p *Plan[V]) await(ctx context.Context) error {
	if ctx == nil || ctx.Done() == nil {
		p.mu.Lock()
		return nil
	}
	mine := make(chan struct{})
	go func() {
		p.mu.Lock()
		select {
		case mine <- struct{}{}:
		case <-ctx.Done():
			p.mu.Unlock()
		}
	}()
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Plan[V]) usable(ctx context.Context) error {
	switch {
	case ctx == nil:
		return given.Context(ctx)
	case p.sys == nil:
		return errNoPlan
	case p.closed:
		return fmt.Errorf("plan: %w", ErrClosed)
	case p.broken != nil:
		return fmt.Errorf("plan: unusable after an earlier error: %w", p.broken)
	}
	return ctx.Err()
}

// fail is what a product that ended with err returns: the error of its context, once, where
// it is nothing else on any device; after any other one the plan is of no use any more.
func (p *Plan[V]) fail(ctx context.Context, err error) error {
	if ended.Once(ctx, &err) {
		return err
	}
	p.broken = p.unchecked(err)
	return p.broken
}

// unchecked adds to a panic, and to a bad access of a GPU, what is the likeliest cause, in
// a plan that trusts its matrix.
func (p *Plan[V]) unchecked(err error) error {
	var panicked *crash.Error
	if p.opt.SkipValidation && (errors.As(err, &panicked) || errors.Is(err, kernels.ErrBadAccess)) {
		return fmt.Errorf("%w: with SkipValidation nobody has checked the pointers and indices of the matrix", err)
	}
	return err
}

var errNoPlan = sparse.Inputf("plan", "was not made by NewPlan")

// rescue turns a panic into an error: none crosses the public API.
func rescue(err *error) {
	if r := recover(); r != nil {
		*err = rescued(r)
	}
}

// rescue is rescue for the products of a plan; there may be none.
func (p *Plan[V]) rescue(err *error) {
	if r := recover(); r != nil {
		if *err = rescued(r); p != nil {
			*err = p.unchecked(*err)
		}
	}
}

func rescued(r any) error {
	if err := sparse.LostFile(r); err != nil {
		return err
	}
	return fmt.Errorf("msrep: internal error: %w", crash.Recovered(r))
}
