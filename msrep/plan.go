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
	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/halo"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/msrep/internal/reorder"
	"github.com/msrep-go/msrep/sparse"
)

// Plan is a matrix that is split among the devices of a System and stored on them, for many products.
//
// A plan may use the arrays of its matrix in place: do not change them while the plan is open, except through
// UpdateValues. The methods may be called from any goroutine. Products of one plan run one after the other; a call that
// waits for another one returns if its context ends. After a device error (*kernels.DeviceError) the plan can only be
// closed. Other plans are not affected.
type Plan[V sparse.Value] struct {
	sys    *System
	opt    PlanOptions
	rule   SplitRule
	timing PlanTiming
	last   Timing // of the last product

	mu         sync.Mutex
	callers    callerSchedule   // on which threads products run
	src        sparse.Matrix[V] // the matrix of NewPlan, in the order of the plan; nil after Close or release
	givenVal   []V              // its values; lay may have a copy
	closed     bool
	broken     error // why the plan is unusable; nil if it is usable
	nnz        int64
	order      *reorder.Order[V] // the order of the plan; nil if it is that of the matrix
	lay        layout.Matrix[V]
	parts      []Part
	nodes      []placement.Group // of the devices, only in a placed plan
	shares     []*share[V]
	route      route[V]
	product    product[V]           // the product in progress
	many       manyProduct[V]       // the product of several vectors in progress
	rowBuffers transposedVectors[V] // for products of vectors by column
	short      bool                 // no major is longer than kernels.FixedChunk; set only in a deterministic plan
	retuning   retuneState

	transposed    *Plan[V] // plan of the transposed matrix; it computes the minor products of this plan as major products
	minorProducts int      // minor products so far, as transposeIfFrequent counts them
}

// NewPlan checks the matrix (unless PlanOptions.SkipValidation is set), splits it among the devices of sys and brings
// each part into the form in which its device multiplies it fastest; opt may prescribe other choices. Bad arguments
// give a *sparse.InputError, device errors a *kernels.DeviceError. After an error nothing stays allocated.
func NewPlan[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt PlanOptions) (p *Plan[V], err error) {
	defer rescue.To(&err) // a type that embeds a nil matrix panics
	if err := cmp.Or(given.Check("system", sys), given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	a = layout.Unwrap(a)
	if err := cmp.Or(given.Check("matrix", a), opt.fill(a.Format())); err != nil {
		return nil, err
	}
	return newPlan(ctx, sys, a, opt)
}

// newPlan is NewPlan for arguments and options that were checked.
func newPlan[V sparse.Value](ctx context.Context, sys *System, a sparse.Matrix[V], opt PlanOptions) (p *Plan[V], err error) {
	p = &Plan[V]{sys: sys, opt: opt, src: a, givenVal: layout.Values(a), nnz: a.NNZ()}
	if err := sys.devices().Register(p); err != nil {
		return nil, err
	}
	made := p
	defer func() { // also after a panic
		if err != nil {
			ended.ByContext(ctx, &err)
			err = errors.Join(made.explainUnchecked(err), made.Close())
			p = nil
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue.To(&err)
	return p, p.build(ctx)
}

// Close waits for a running product and releases all memory of the plan. It may be called again.
func (p *Plan[V]) Close() error {
	if p == nil || p.sys == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed, p.src, p.givenVal = true, nil, nil
	if p.order != nil {
		p.order.Release()
	}
	defer p.sys.devices().Unregister(p) // last: until then Close of the System also waits for this plan
	var errs []error
	if p.route != nil {
		errs = append(errs, p.route.Close())
	}
	errs = append(errs, p.transposed.Close(), p.rowBuffers.free())
	for _, s := range p.shares {
		errs = append(errs, s.close())
	}
	p.nodes, p.shares, p.lay.Ptr, p.lay.Major, p.lay.Val = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

// lock locks p.mu for a call of the plan. It fails if ctx ends first, or if p is nil.
func (p *Plan[V]) lock(ctx context.Context) error {
	if p == nil {
		return errNoPlan
	}
	if p.mu.TryLock() {
		return nil
	}
	if err := p.lockContext(ctx); err != nil {
		return err
	}
	p.callers.lastWait = time.Since(clockStart)
	if p.transposed != nil { // its callers wait for the lock of p
		p.transposed.callers.lastWait = p.callers.lastWait
	}
	return nil
}

// lockContext is lock if another caller holds p.mu.
func (p *Plan[V]) lockContext(ctx context.Context) error {
	if ctx == nil || ctx.Done() == nil {
		p.mu.Lock()
		return nil
	}
	locked := make(chan struct{})
	go func() {
		p.mu.Lock()
		select {
		case locked <- struct{}{}:
		case <-ctx.Done():
			p.mu.Unlock()
		}
	}()
	select {
	case <-locked:
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

// fail returns the error of a product that ended with err. If every device failed only because ctx ended, that is the
// error of ctx. After any other error the plan is unusable.
func (p *Plan[V]) fail(ctx context.Context, err error) error {
	if ended.ByContext(ctx, &err) {
		return err
	}
	p.broken = p.explainUnchecked(err)
	return p.broken
}

// explainUnchecked adds the likely cause to a panic, a bad memory access of a GPU or an index out of range if the matrix was
// not validated.
func (p *Plan[V]) explainUnchecked(err error) error {
	var panicked *crash.Error
	if p.opt.SkipValidation && (errors.As(err, &panicked) || errors.Is(err, kernels.ErrBadAccess) || errors.Is(err, halo.ErrIndex)) {
		return fmt.Errorf("%w: with SkipValidation the pointers and indices of the matrix are not checked", err)
	}
	return err
}

var errNoPlan = sparse.Inputf("plan", "was not made by NewPlan")

// rescue is rescue.To for the products of a plan. p may be nil.
func (p *Plan[V]) rescue(err *error) {
	if r := recover(); r != nil {
		if *err = rescue.Error(r); p != nil {
			*err = p.explainUnchecked(*err)
		}
	}
}

// UpdateValues replaces the values and keeps the structure. val has NNZ elements: val[k] is the new value of the entry
// whose value is Val[k] in the matrix of NewPlan. Another length, and a plan with Storage.Release, give a
// *sparse.InputError. From then on the plan may use val in place, and no longer uses the old values. The caller may
// overwrite val and pass it again, provided that no product runs while val is overwritten.
//
// If ctx ends before the update begins, the plan keeps its old values. An update that has begun is completed. After a
// device error the plan can only be closed.
func (p *Plan[V]) UpdateValues(ctx context.Context, val []V) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue.To(&err)
	if err := p.lock(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if p.src == nil || p.transposed.released() { // before anything changes
		return errUpdateReleased
	}
	if int64(len(val)) != p.nnz {
		return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), p.nnz)
	}
	src, err := p.withValues(val)
	if err != nil {
		return err
	}
	lay, err := p.layoutOf(src)
	if err != nil {
		return err
	}
	if err := p.waitPending(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // all values change or none
	p.broken = errHalfUpdated        // in case of a panic
	p.src, p.givenVal, p.lay.Val = src, val, lay.Val
	err = p.each(func(i int) error {
		return errors.Join(p.shares[i].placeValues(&p.lay), p.shares[i].repack(ctx, &p.lay, p.opt))
	})
	if err == nil && p.transposed != nil {
		err = p.transposed.UpdateValues(ctx, layout.Values(src))
	}
	p.broken = err
	return err
}

// withValues returns the matrix in the order of the plan with new values, which are in the order of the matrix of NewPlan.
func (p *Plan[V]) withValues(val []V) (sparse.Matrix[V], error) {
	if p.order != nil {
		return p.order.WithValues(val)
	}
	return layout.WithValues(p.src, val), nil
}

var errHalfUpdated = errors.New("an update of the values was not completed")

// released reports whether the plan is open and has released its matrix. p may be nil.
func (p *Plan[V]) released() bool {
	if p == nil {
		return false
	}
	p.mu.Lock() // System.Close closes plans in any order
	defer p.mu.Unlock()
	return p.src == nil && !p.closed
}
