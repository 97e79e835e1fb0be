package factor

import (
	"context"

	"github.com/msrep-go/msrep/internal/rescue"
	"github.com/msrep-go/msrep/solver/internal/incomplete"
	"github.com/msrep-go/msrep/sparse"
)

// ILU0Options are the options of NewILU0.
type ILU0Options struct {
	// Order is the order in which rows are eliminated; nil means Natural. An order with a small bandwidth may make
	// the preconditioner better, a fill-reducing one usually makes it worse.
	Order Order
	// Unmatched leaves rows where they are. By default a maximum product matching puts large entries on the diagonal
	// and scales the matrix.
	Unmatched bool
}

// NewILU0 returns the incomplete factors of a square matrix that have entries at the places of its entries and on the
// diagonal only, and are equal to the matrix there (Meijerink and van der Vorst, An iterative solution method for
// linear systems of which the coefficient matrix is a symmetric M-matrix, Math. Comp. 31 (1977) 148-162). They take
// as much memory as the matrix, and one pass over it. ILUT is better for matrices that are not diagonally dominant.
//
// Pivots that are zero, or tiny beside the largest entry of their row, are replaced; Info counts them. Duplicates are
// added.
//
// A matrix that is not valid, not square, or has a value that is not finite is a *sparse.InputError, a matrix whose
// rows cannot all be matched with columns a *SingularError. If ctx ends, so does NewILU0, with its error.
func NewILU0(ctx context.Context, a *sparse.CSR[float64], opt ILU0Options) (f *Incomplete, err error) {
	defer rescue.To(&err)
	if opt.Order == nil {
		opt.Order = Natural
	}
	f = &Incomplete{kind: "ilu0", factorise: incomplete.ILU0, matching: !opt.Unmatched}
	return f.start(ctx, a, opt.Order)
}
