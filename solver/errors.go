package solver

import (
	"errors"
	"fmt"
)

// These are the reasons why a method did not converge. A *ConvergenceError wraps one of them.
var (
	// ErrBreakdown means that the method would divide by zero, or that a number left the range of float64.
	// Examples are CG with a matrix that is not positive definite, BiCGSTAB with a skew-symmetric matrix, and
	// GMRES with a singular matrix.
	ErrBreakdown = errors.New("breakdown")
	// ErrStagnation means that the residual stopped decreasing above the tolerance.
	ErrStagnation = errors.New("stagnation")
	// ErrNotConverged means that the residual is above the tolerance after Options.MaxIter iterations.
	ErrNotConverged = errors.New("not converged")
)

// ConvergenceError is the error of a solve that did not reach its tolerance.
type ConvergenceError struct {
	Method     string // "cg", "bicgstab", "gmres", "power", "refine", "pagerank"
	Iterations int
	Residual   float64 // relative residual, computed from the last x
	Detail     string  // what caused it; may be empty
	Err        error   // ErrBreakdown, ErrStagnation or ErrNotConverged
}

func (e *ConvergenceError) Error() string {
	s := fmt.Sprintf("%s: %v after %d iterations, relative residual %.3g", e.Method, e.Err, e.Iterations, e.Residual)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the reason: ErrBreakdown, ErrStagnation or ErrNotConverged.
func (e *ConvergenceError) Unwrap() error { return e.Err }
