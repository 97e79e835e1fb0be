package solver

import (
	"errors"
	"fmt"
)

// Why a method gave up. Errors that wrap these are *ConvergenceError.
var (
	// ErrBreakdown says that the method divides by zero on this matrix, or that a
	// number left the range of float64: CG on a matrix that is not positive definite,
	// BiCGSTAB on a skew-symmetric one, GMRES on a singular one.
	ErrBreakdown = errors.New("breakdown")
	// ErrStagnation says that the residual stopped falling above the tolerance.
	ErrStagnation = errors.New("stagnation")
	// ErrNotConverged says that Options.MaxIter iterations were not enough.
	ErrNotConverged = errors.New("not converged")
)

// ConvergenceError is a solve that did not reach its tolerance.
type ConvergenceError struct {
	Method     string // "cg", "bicgstab", "gmres", "power", "refine", "pagerank"
	Iterations int
	Residual   float64 // true relative residual of the last x
	Detail     string  // what was seen; may be empty
	Err        error   // ErrBreakdown, ErrStagnation or ErrNotConverged
}

func (e *ConvergenceError) Error() string {
	s := fmt.Sprintf("%s: %v after %d iterations, relative residual %.3g", e.Method, e.Err, e.Iterations, e.Residual)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap gives the reason.
func (e *ConvergenceError) Unwrap() error { return e.Err }
