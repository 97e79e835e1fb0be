//go:build cuda

package cusparse

// #include "shim.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Solve is T*y = alpha*x for a triangle T of a CSR matrix.
type Solve struct {
	a    *Matrix
	x, y *Vector
	s    unsafe.Pointer
}

// NewSolve describes a solve with the upper or the lower triangle of a; unit says that
// all elements of its diagonal are 1. a must not be transposed. x and y set what a later
// Solve reads and writes. An error wraps ErrAbsent if the library is too old.
func (h *Handle) NewSolve(a *Matrix, upper, unit bool, x, y *Vector) (*Solve, error) {
	if C.msrep_sparse_solves() == 0 {
		return nil, fmt.Errorf("%w: no cusparseSpSV", ErrAbsent)
	}
	if err := check(C.msrep_sparse_triangle(a.m, truth(upper), truth(unit))); err != nil {
		return nil, err
	}
	s := &Solve{a: a, x: x, y: y}
	if err := check(C.msrep_sparse_solve_create(&s.s)); err != nil {
		return nil, err
	}
	return s, nil
}

// SolveBytes returns the memory that Analyse and Solve need.
func (h *Handle) SolveBytes(s *Solve) (int64, error) {
	var n C.size_t
	err := check(C.msrep_sparse_solve_buffer(h.h, 1, s.a.m, s.x.v, s.y.v, truth(s.a.single), s.s, &n))
	return int64(n), err
}

// Analyse analyses the triangle once. The buffer, device memory of SolveBytes, must
// stay until the last solve has ended.
func (h *Handle) Analyse(s *Solve, buffer uint64) error {
	return check(C.msrep_sparse_solve_analyse(h.h, 1, s.a.m, s.x.v, s.y.v, truth(s.a.single), s.s, C.uint64_t(buffer)))
}

// Solve enqueues the solve on the stream of the handle.
func (h *Handle) Solve(s *Solve, alpha float64) error {
	return check(C.msrep_sparse_solve(h.h, C.double(alpha), s.a.m, s.x.v, s.y.v, truth(s.a.single), s.s))
}

// Close destroys the description.
func (s *Solve) Close() error { return check(C.msrep_sparse_solve_destroy(s.s)) }
