package solver

import (
	"context"
	"fmt"
	"math"
)

// CG solves A x = b by the method of conjugate gradients (Hestenes and Stiefel,
// 1952), for a symmetric positive definite matrix and preconditioner. x is the
// first guess and takes the solution.
//
// An iteration takes one product, and on vectors 10 n elements read and written
// without and 12 n with Jacobi; 11 n and 16 n on devices
// with memory of their own, 10 n and 15 n over several processes.
//
// A solve that ends above the tolerance is a *ConvergenceError and gives its Result
// as well; wrong arguments are *sparse.InputError; errors of products and of ctx
// come back as they are.
func CG(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "cg", iterate: linear(cg), vectors: 4, kept: 1}, a, b, x, opt)
}

func cg(t *task) error {
	r, p, q := t.zero(), t.zero(), t.zero()
	kept := none // of the preconditioner
	if t.opt.Precond != nil {
		kept = t.zero()
	}
	for { // again where the recurrence says that x is good enough and it is not
		if done, err := t.start(r, 0.5); done {
			return err
		}
		z := t.preconditioned(r, q) // which nothing is in yet: Jacobi on CPU devices then never touches kept
		rz := t.dot(r, z)
		t.set(1, z, p)
		for {
			t.product(1, p, 0, q)
			pq := t.dot(p, q)
			if err := t.failed(); err != nil {
				return err
			}
			if why := notPositive(rz, pq); why != "" {
				return t.give(ErrBreakdown, "%s", why)
			}
			alpha := rz / pq
			rr, next := t.updateResidual(alpha, p, q, t.x, r, kept)
			near, err := t.note(math.Sqrt(rr))
			if near || err != nil {
				t.updateSolution(alpha, p, t.x)
			}
			if err != nil {
				return err
			}
			if near {
				break
			}
			t.updateDirection(alpha, next/rz, r, kept, p, t.x)
			rz = next
		}
	}
}

// notPositive says what is not positive definite, or beyond float64: rz is r'Mr, pq is p'Ap.
func notPositive(rz, pq float64) string {
	switch {
	case !finite(rz):
		return fmt.Sprintf("r'Mr = %g: the preconditioner is not finite, or too large", rz)
	case !finite(pq):
		return fmt.Sprintf("p'Ap = %g: the matrix is not finite, or too large: scale it", pq)
	case rz <= 0:
		return fmt.Sprintf("r'Mr = %.3g: the preconditioner is not positive definite", rz)
	case pq <= 0:
		return fmt.Sprintf("p'Ap = %.3g: the matrix is not positive definite", pq)
	}
	return ""
}
