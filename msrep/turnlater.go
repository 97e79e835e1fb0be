package msrep

import (
	"context"

	"github.com/msrep-go/msrep/kernels"
)

// Where nobody announced products with the transpose, a plan on one CPU device keeps the transposed
// matrix of a small one as well, once so many of them were made that this is likely to be repaid:
// they add to y entry by entry until then, which takes 1.7 times as long in the caches.
const (
	turnAfter    = 100     // products: the plan takes 50 to 100 of them, and is repaid after 300
	turnExpected = 1000    // more of them, which decides how long that plan looks for a form
	turnEntries  = 1 << 20 // at most: the matrix and its transpose stay in the last cache
)

// turnLater makes the plan for products that scatter here before the last of turnAfter of them. It
// fails where ctx ends only: without that plan they go on as before.
func (p *Plan[V]) turnLater(ctx context.Context) error {
	if p.adds >= turnAfter || p.src == nil || p.opt.form != kernels.FormAuto || p.nnz > turnEntries || !p.direct() || p.shares[0].packed.Info().Symmetric {
		return nil
	}
	if p.adds++; p.adds < turnAfter {
		return nil
	}
	p.opt.ExpectedTransposed = turnExpected
	if err := p.turn(ctx); err != nil && ctx.Err() != nil {
		p.adds--
		return ctx.Err()
	}
	return nil
}
