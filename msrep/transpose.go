package msrep

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Products that would scatter in the layout of a plan gather in that of a second one, of the
// transposed matrix, which the plan holds: from the beginning where enough of them are expected, from
// the first one on where it is deterministic, and in the end on one CPU device with a small matrix.

// Where nobody announced them a plan on one CPU device keeps the transposed matrix of a small one
// once so many were made that this is likely to be repaid: they add to y entry by entry until then,
// which takes 1.7 times as long in the caches.
const (
	transposeAfter    = 100  // products: the second plan takes 50 to 100 of them, and is repaid after 300
	transposeExpected = 1000 // more of them, which decides how long that plan looks for a form
)

// cachedEntries is how many entries a matrix has at most that stays in the last cache with its transpose.
const cachedEntries = 1 << 20

// instead is the plan that makes products with op in place of p, or nil.
func (p *Plan[V]) instead(op Transpose) *Plan[V] {
	if p.lay.byMajor(op) {
		return nil
	}
	return p.transposed
}

// transposeExpecting makes the plan of the transposed matrix when enough products of it are expected.
func (p *Plan[V]) transposeExpecting(ctx context.Context) (err error) {
	o := p.opt
	minor := o.form == kernels.FormAuto && !o.Storage.Release // it can do without, which is better for one product
	switch {
	case o.form == "" || p.lay.byMajor(Trans) || o.Expected.Transposed == 0:
		return nil
	case minor && o.Expected.Transposed == 1:
		return nil
	}
	o.Storage.Format, o.ofPlan = sparse.FormatCSC, true
	o.Expected.Products, o.Expected.Transposed, o.ofTransposed = o.Expected.Transposed, 0, true
	p.transposed, err = newPlan(ctx, p.sys, p.src, o)
	if minor && errors.Is(err, kernels.ErrOutOfMemory) {
		return nil // it does without
	}
	return err
}

// transposeFixed makes the plan of the transposed matrix before the first product with op that would
// scatter and must not, as the plan is deterministic.
func (p *Plan[V]) transposeFixed(ctx context.Context, op Transpose) (err error) {
	if !p.opt.Deterministic || p.transposed != nil || p.src == nil || p.lay.byMajor(op) {
		return nil
	}
	o := p.opt
	o.Storage.Format, o.ofPlan, o.Storage.Release, o.form, o.Storage.Choice = sparse.FormatCSC, true, false, "", ""
	p.transposed, err = newPlan(ctx, p.sys, p.src, o)
	return err
}

// transposeLater makes the plan of the transposed matrix before the last of transposeAfter products
// with op that scatter. It fails where ctx ends only: without that plan they go on as before.
func (p *Plan[V]) transposeLater(ctx context.Context, op Transpose) error {
	if p.transposed != nil || p.lay.byMajor(op) || p.minorProducts >= transposeAfter || p.src == nil || p.opt.form != kernels.FormAuto ||
		p.nnz > cachedEntries || !p.direct() || p.shares[0].packed.Info().Symmetric {
		return nil
	}
	if p.minorProducts++; p.minorProducts < transposeAfter {
		return nil
	}
	p.opt.Expected.Transposed = transposeExpected
	if err := p.transposeExpecting(ctx); err != nil && ctx.Err() != nil {
		p.minorProducts--
		return ctx.Err()
	}
	return nil
}
