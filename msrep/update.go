package msrep

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/msrep/internal/layout"
	"github.com/msrep-go/msrep/sparse"
)

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
	src := layout.WithValues(p.src, val)
	lay, err := layout.New(src, p.opt.Storage.Format, p.opt.RefuseUnsorted)
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
		err = p.transposed.UpdateValues(ctx, val)
	}
	p.broken = err
	return err
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
