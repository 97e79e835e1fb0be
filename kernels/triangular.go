package kernels

import (
	"fmt"

	"github.com/msrep-go/msrep/sparse"
)

// TrianglePacking asks a device to store a square triangular matrix T of n rows for TriangularSolve; it is an argument
// of Packer.Pack. The arrays are in host memory. The device may use them until Pack returns, not later.
//
// Ptr, Idx and Val are the entries of T beside the diagonal, in CSR: entry k of row r is in column Idx[k], for
// Ptr[r] <= k < Ptr[r+1], with 0 <= Idx[k] < r in a lower triangle and r < Idx[k] < n in an upper one. The columns of a
// row increase. No diagonal element is 0.
type TrianglePacking[V sparse.Value] struct {
	Upper bool
	Ptr   []int64 // n+1, from 0
	Idx   []int32 // Ptr[n]
	Val   []V     // Ptr[n]
	Diag  []V     // n: the diagonal; nil if all its elements are 1
	// Vectors is the expected number of right-hand sides of a solve; 0 means 1.
	Vectors int
	// Stop is called from time to time; an error from it ends the packing. It may be nil.
	Stop func() error
}

// Rows returns n, the number of rows.
func (op *TrianglePacking[V]) Rows() int { return max(len(op.Ptr)-1, 0) }

// Check returns an error that wraps ErrArgument if the lengths of the arrays contradict each other. It does not read
// the elements of Idx.
func (op *TrianglePacking[V]) Check() error {
	n := op.Rows()
	switch {
	case len(op.Ptr) == 0 || op.Ptr[0] != 0:
		return fmt.Errorf("%w: the pointers do not begin with 0", ErrArgument)
	case n > sparse.MaxDim:
		return fmt.Errorf("%w: %d rows", ErrArgument, n)
	case int64(len(op.Idx)) != op.Ptr[n] || int64(len(op.Val)) != op.Ptr[n]:
		return fmt.Errorf("%w: idx and val have %d and %d elements, they need %d", ErrArgument, len(op.Idx), len(op.Val), op.Ptr[n])
	case op.Diag != nil && len(op.Diag) != n:
		return fmt.Errorf("%w: a diagonal of %d elements for %d rows", ErrArgument, len(op.Diag), n)
	}
	return nil
}

// PackedTriangle is the Packed that Packer.Pack returns for a TrianglePacking.
type PackedTriangle interface {
	Packed
	// Update replaces the values. op is a *TrianglePacking with values of the same type and the same pattern: Upper,
	// Ptr, Idx and whether Diag is nil are as before. The device need not check that. No solve may run at the same time.
	// After an error the values are unspecified.
	Update(op Operation) error
}

// HostTriangle is a PackedTriangle of a device that is a HostMapper.
type HostTriangle[V sparse.Value] interface {
	PackedTriangle
	// SolveHost is TriangularSolve for one vector in host memory. It takes less time than an operation on a stream.
	SolveHost(alpha V, b, x []V) error
}

// TriangularSolve solves T*X = Alpha*B for the columns of X by substitution. In each column j
//
//	X[r][j] = (alpha*B[r][j] - sum over the entries k of row r of val[k]*X[idx[k]][j]) / diag[r]
//
// A device may multiply by 1/diag[r] instead. A is a PackedTriangle. X and B have n rows and the same number of
// columns; they may be the same array with the same stride. For one vector, Cols and Stride are 1. Equal arguments
// give equal bits on the same device, however many workers it has.
type TriangularSolve[V sparse.Value] struct {
	A     Packed
	Alpha V
	B, X  MultiVector[V]
}

// Name returns the name of the operation.
func (*TrianglePacking[V]) Name() string { return "pack-triangle" }

// Name returns the name of the operation.
func (*TriangularSolve[V]) Name() string { return "triangular-solve" }
