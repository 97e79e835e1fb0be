package factor

import (
	"errors"
	"fmt"

	"github.com/msrep-go/msrep/solver/internal/leftlooking"
	"github.com/msrep-go/msrep/solver/internal/multifrontal"
	"github.com/msrep-go/msrep/sparse"
)

// ErrNotPositiveDefinite is wrapped by the error of a symmetric matrix that has no Cholesky factor.
var ErrNotPositiveDefinite = errors.New("the matrix is not positive definite")

// SingularError is the error of a matrix that cannot be factored.
type SingularError struct {
	// Structural says that the matrix is singular for any values of its entries.
	Structural bool
	// Rows and Columns are those without a pivot, ascending. If Structural is set, they are those that remain when as many
	// as possible are matched. Otherwise they are a column that is zero in all rows left, and one of these rows.
	Rows, Columns []int
}

// Error names the first row and column.
func (e *SingularError) Error() string {
	if e.Structural {
		return fmt.Sprintf("the matrix is structurally singular: %d of its rows cannot be matched with columns, the first is row %d", len(e.Rows), e.Rows[0])
	}
	return fmt.Sprintf("the matrix is singular: column %d has no nonzero pivot", e.Columns[0])
}

// MemoryError says that factors need more memory than there is, or than MaxBytes allows. An *sparse.InputError wraps it.
type MemoryError struct {
	Need, Have int64 // bytes
}

// Error states the bytes.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("its factors need %d bytes, %d are available", e.Need, e.Have)
}

// AccuracyError says that a solution is inaccurate, although it was refined: pivots were small, or the solution exceeds
// the range of float64.
type AccuracyError struct {
	// Backward is the largest |b - A x| / s of an equation, or NaN. s is |A| |x| + |b|, and where that may be no more than
	// rounding errors, also the sum of the magnitudes of the row times the largest |x|.
	Backward float64
	// Replaced is the number of pivots that were replaced since they were tiny.
	Replaced int
}

// Error states the backward error.
func (e *AccuracyError) Error() string {
	return fmt.Sprintf("the solution is inaccurate: its backward error is %.2g (%d pivots were replaced)", e.Backward, e.Replaced)
}

// publicError returns an error of package leftlooking or multifrontal as one of this package.
func publicError(err error) error {
	var singular *leftlooking.SingularError
	var memory *leftlooking.MemoryError
	var size *multifrontal.SizeError
	switch {
	case errors.As(err, &singular) && singular.Overflow:
		return sparse.Inputf("matrix", "its factors exceed the range of float64 in column %d", singular.Columns[0])
	case errors.As(err, &singular):
		return &SingularError{Structural: singular.Structural, Rows: singular.Rows, Columns: singular.Columns}
	case errors.As(err, &memory):
		return memoryError(memory.Need, memory.Have)
	case errors.As(err, &size):
		return &sparse.InputError{Subject: "matrix", Err: size}
	}
	return err
}
