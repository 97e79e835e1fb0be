package amg

import (
	"context"
	"errors"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// NewChebyshev returns a preconditioner without coarser levels, z = p(D^-1 A) D^-1 r, where p is the Chebyshev polynomial of
// the fourth kind of degree MaxDegree. A must be symmetric. It takes MaxDegree - 1 products with A and little memory, but the
// number of iterations grows with a mesh as it does with Jacobi. Of opt it reads Double and Deterministic. Its errors are
// those of New.
func NewChebyshev(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], opt Options) (*Preconditioner, error) {
	p, err := New(ctx, sys, a, Options{MaxLevels: 1, CoarseSize: 1, Double: opt.Double, Deterministic: opt.Deterministic})
	if err != nil || p.symmetric {
		return p, err
	}
	return nil, errors.Join(sparse.Inputf("matrix", "is not symmetric: a Chebyshev preconditioner needs a symmetric one"), p.Close())
}
