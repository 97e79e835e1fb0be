package msrep

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/msrep-go/msrep/sparse"
)

// UpdateValues replaces the values and keeps the structure: val[k] belongs to
// the entry whose value was Val[k] in the matrix that the plan was made of. The
// plan may use val in place from then on, and no longer uses the values that it had.
// The same slice may be filled anew and given again, as long as no product runs while it
// is filled.
//
// If ctx has ended when the update would begin, the plan keeps the values that it had; an
// update that has begun is completed. After an error of a device the plan can only be
// closed.
func (p *Plan[V]) UpdateValues(ctx context.Context, val []V) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer rescue(&err)
	if err := p.enter(ctx); err != nil {
		return err
	}
	defer p.mu.Unlock()
	if err := p.usable(ctx); err != nil {
		return err
	}
	if p.src == nil || p.transposed.released() { // before anything changes
		return errNoValues
	}
	if int64(len(val)) != p.nnz {
		return sparse.Inputf("val", "%d values: the matrix has %d entries", len(val), p.nnz)
	}
	src := withValues(p.src, val)
	lay, err := newLayout(src, p.opt.Storage.Format, p.opt.RefuseUnsorted)
	if err != nil {
		return err
	}
	if err := p.waitPending(); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // everyDevice values change or none
	p.broken = errHalfUpdated        // also after a panic
	p.src, p.given, p.lay.val = src, val, lay.val
	err = p.each(func(i int) error {
		return errors.Join(p.shares[i].placeValues(p.lay), p.shares[i].repack(ctx, p.lay, p.opt))
	})
	if err == nil && p.transposed != nil {
		err = p.transposed.UpdateValues(ctx, val)
	}
	p.broken = err
	return err
}

var errHalfUpdated = errors.New("some of the values are new")

// released reports whether the plan, if there is one, has let its matrix go before it is closed.
func (p *Plan[V]) released() bool {
	if p == nil {
		return false
	}
	p.mu.Lock() // System.Close closes plans in any order
	defer p.mu.Unlock()
	return p.src == nil && !p.closed
}
