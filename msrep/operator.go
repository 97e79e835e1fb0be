package msrep

import (
	"context"

	"github.com/msrep-go/msrep/sparse"
)

// Operator is a matrix that multiplies vectors; how it is stored does not matter. A Plan is an Operator. Solvers accept
// any Operator.
type Operator[V sparse.Value] interface {
	// Dims returns the number of rows and columns of A.
	Dims() (rows, cols int)
	// SpMV computes y = alpha*op(A)*x + beta*y; see Plan.SpMV.
	SpMV(ctx context.Context, op Transpose, alpha V, x []V, beta V, y []V) error
}

var _ Operator[float64] = (*Plan[float64])(nil)
