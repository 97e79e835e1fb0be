package msrep

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// A plan can hold a second plan, of the transposed matrix, which computes the minor products of the first as major
// products. The plan makes the second plan in NewPlan if enough minor products are expected, before the first minor
// product if it is deterministic, and after transposeAfter minor products if the matrix is small and on a single CPU
// device.

// Minor products of a matrix in the caches take 1.7 times as long as major products.
const (
	transposeAfter          = 100  // minor products; the second plan takes as long as 50 to 100 products and pays after 300
	transposeSearchProducts = 1000 // Expected.Products of the second plan, which limits its search for a form
)

// cachedEntries is the largest number of entries of a matrix that stays in the last cache together with its transpose.
const cachedEntries = 1 << 20

// transposedFor returns the plan of the transposed matrix if it computes products with op, otherwise nil.
func (p *Plan[V]) transposedFor(op Transpose) *Plan[V] {
	if p.lay.ByMajor(bool(op)) {
		return nil
	}
	return p.transposed
}

// transposeIfExpected makes the plan of the transposed matrix if Expected.Transposed is large enough.
func (p *Plan[V]) transposeIfExpected(ctx context.Context) (err error) {
	o := p.opt
	minor := o.form == kernels.FormAuto && !o.Storage.Release // the second plan is optional, and does not pay for one product
	switch {
	case o.form == "" || p.lay.ByMajor(bool(Trans)) || o.Expected.Transposed == 0:
		return nil
	case minor && o.Expected.Transposed == 1:
		return nil
	}
	o.Storage.Format, o.nested, o.xCuts = sparse.FormatCSC, true, p.ownCuts()
	o.Expected.Products, o.Expected.Transposed, o.nestedTransposed = o.Expected.Transposed, 0, true
	p.transposed, err = newPlan(ctx, p.sys, p.src, o)
	if minor && errors.Is(err, kernels.ErrOutOfMemory) {
		return nil // minor products work without it
	}
	return err
}

// transposeIfDeterministic makes the plan of the transposed matrix before the first minor product of a deterministic
// plan: the sums of minor products have no fixed order.
func (p *Plan[V]) transposeIfDeterministic(ctx context.Context, op Transpose) (err error) {
	if !p.opt.Deterministic || p.transposed != nil || p.src == nil || p.lay.ByMajor(bool(op)) {
		return nil
	}
	o := p.opt
	o.xCuts = p.ownCuts()
	o.Storage.Format, o.nested, o.Storage.Release, o.form, o.Storage.Choice = sparse.FormatCSC, true, false, "", ""
	p.transposed, err = newPlan(ctx, p.sys, p.src, o)
	return err
}

// transposeIfFrequent counts the minor products and makes the plan of the transposed matrix before product number
// transposeAfter. It fails only if ctx ends; after any other error the plan continues with minor products.
func (p *Plan[V]) transposeIfFrequent(ctx context.Context, op Transpose) error {
	if p.transposed != nil || p.lay.ByMajor(bool(op)) || p.minorProducts >= transposeAfter || p.src == nil || p.opt.form != kernels.FormAuto ||
		p.nnz > cachedEntries || !p.isDirect() {
		return nil
	}
	if p.minorProducts++; p.minorProducts < transposeAfter {
		return nil
	}
	p.opt.Expected.Transposed = transposeSearchProducts
	if err := p.transposeIfExpected(ctx); err != nil && ctx.Err() != nil {
		p.minorProducts--
		return ctx.Err()
	}
	return nil
}
