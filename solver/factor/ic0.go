package factor

import (
	"context"

	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/solver/internal/incomplete"
	"github.com/msrep-go/msrep/sparse"
)

// IC0Options are the options of NewIC0.
type IC0Options struct {
	// Order is the order in which rows are eliminated; nil means Natural. See ILU0Options.
	Order Order
}

// NewIC0 returns the incomplete Cholesky factors of a symmetric matrix, L D L' ~ A[p][:, p], as L and U = D L'. L has
// entries at the places of the lower triangle of A[p][:, p] only, and the product is equal to the matrix there
// (Meijerink and van der Vorst, 1977). The upper triangle is not read. The preconditioner is symmetric and positive
// definite, as CG needs it.
//
// The pivots are positive if A is an M-matrix. If one is not, NewIC0 adds a multiple s of the diagonal to the
// diagonal, and begins again with larger s until all are positive (Manteuffel, An incomplete factorization technique
// for positive definite linear systems, Math. Comp. 34 (1980) 473-497). Info().Shift is s; a large one says that the
// preconditioner is not much better than Jacobi.
//
// An element on the diagonal that is not positive is a *sparse.InputError that wraps ErrNotPositiveDefinite; other
// errors are those of NewILU0.
func NewIC0(ctx context.Context, a *sparse.CSR[float64], opt IC0Options) (f *Incomplete, err error) {
	defer rescue.To(&err)
	if opt.Order == nil {
		opt.Order = Natural
	}
	f = &Incomplete{kind: "ic0", factorise: incomplete.IC0}
	return f.start(ctx, a, opt.Order)
}
