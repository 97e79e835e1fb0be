package msrep

import (
	"context"

	"github.com/msrep-go/msrep/sparse"
)

// Operator is a matrix known by what it does to a vector. A Plan is one; solvers
// take any.
type Operator[V sparse.Value] interface {
	// Dims gives the number of rows and columns of A.
	Dims() (rows, cols int)
	// SpMV computes y = alpha*op(A)*x + beta*y; see Plan.SpMV.
	SpMV(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) error
}

var _ Operator[float64] = (*Plan[float64])(nil)
