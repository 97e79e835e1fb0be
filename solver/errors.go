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
	// ErrInconsistent means that the matrix is singular to working precision and that A x = b has no solution.
	ErrInconsistent = errors.New("inconsistent system")
)

// ConvergenceError is the error of a solve that did not reach its tolerance.
type ConvergenceError struct {
	Method     string // "cg", "minres", "bicgstab", "idr", "gmres", "fgmres", "lsmr", "richardson", "refine", "power"
	Iterations int
	Residual   float64 // relative residual, computed from the last x
	Detail     string  // what caused it; may be empty
	Err        error   // ErrBreakdown, ErrStagnation, ErrNotConverged or ErrInconsistent
}

func (e *ConvergenceError) Error() string {
	s := fmt.Sprintf("%s: %v after %d iterations, relative residual %.3g", e.Method, e.Err, e.Iterations, e.Residual)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the reason, Err.
func (e *ConvergenceError) Unwrap() error { return e.Err }

// DiagnosisKind is the reason why a system was not solved.
type DiagnosisKind string

// The kinds of diagnosis.
const (
	// StructurallySingular: whatever the values of the entries are, the matrix is singular.
	StructurallySingular DiagnosisKind = "structurally_singular"
	// Singular: the matrix is singular to working precision.
	Singular DiagnosisKind = "singular"
	// Inconsistent: no x satisfies all equations; common if the matrix has more rows than columns.
	Inconsistent DiagnosisKind = "inconsistent"
	// Limit: the time, the memory or the iterations that the options allow were not enough.
	Limit DiagnosisKind = "limit"
)

// Diagnosis says in one line what is wrong with a system.
type Diagnosis struct {
	Kind DiagnosisKind
	Text string
}

// SystemError is the error of Solve for a system that it did not solve.
type SystemError struct {
	Diagnosis
	Residual float64 // least relative residual that was found; NaN if no attempt returned an x
	Err      error   // the error of the last attempt
}

func (e *SystemError) Error() string { return e.Text }

// Unwrap returns the error of the last attempt.
func (e *SystemError) Unwrap() error { return e.Err }
