package solver

import (
	"context"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// CG solves A x = b by the conjugate gradient method (Hestenes and Stiefel, 1952). The matrix and the
// preconditioner must be symmetric and positive definite. x is the first guess, and CG overwrites it with the
// solution.
//
// An iteration takes one product. Its operations on vectors read and write 10 n elements, or 12 n with Jacobi;
// on devices with their own memory 11 n, or 16 n with Jacobi; over several processes 10 n, or 15 n with Jacobi.
//
// On devices with their own memory that belong to one process, without a preconditioner or with Jacobi, the scalars stay on
// the devices: the host waits only after several iterations, at most 8. Options.Progress is then called for all of them, and
// Result.Products also counts the products after the last iteration, at most 7, which change nothing else.
//
// A solve that ends above the tolerance returns its Result and a *ConvergenceError. Wrong arguments are
// *sparse.InputError. Errors of products, of the preconditioner and of ctx are returned unchanged.
func CG(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "cg", iterate: linear(cg), vectors: 4, precondVectors: 1}, a, b, x, opt)
}

func cg(t *task) error {
	r, p, q := t.Zero(), t.Zero(), t.Zero()
	kept := space.None // the preconditioned residual
	if t.opt.Precond != nil {
		kept = t.Zero()
	}
	ahead := space.NewCG(t.Space, p, q, t.x, r, kept, t.norm, t.opt.Tol, maxAhead)
	for { // repeated while the recurrence claims convergence and the true residual does not
		if done, err := t.start(r, 0.5); done {
			return err
		}
		z := t.Preconditioned(r, q) // q is free here; kept then stays unused with Jacobi on CPU devices
		rz := t.Dot(r, z)
		t.Set(1, z, p)
		if ahead != nil {
			if err := t.Failed(); err != nil {
				return err
			}
			if err := t.iterateAhead(ahead, rz); err != nil {
				return err
			}
			continue
		}
		for {
			t.Product(1, p, 0, q)
			pq := t.Dot(p, q)
			if err := t.Failed(); err != nil {
				return err
			}
			if why := notPositive(rz, pq); why != "" {
				return t.convergenceError(ErrBreakdown, "%s", why)
			}
			alpha := rz / pq
			rr, next := t.UpdateResidual(alpha, p, q, t.x, r, kept)
			near, err := t.recordIteration(math.Sqrt(rr))
			if near || err != nil {
				t.UpdateSolution(alpha, p, t.x)
			}
			if err != nil {
				return err
			}
			if near {
				break
			}
			t.UpdateDirection(alpha, next/rz, r, kept, p, t.x)
			rz = next
		}
	}
}

// notPositive checks rz = r'Mr and pq = p'Ap. It returns "" where both are positive and finite, else a message that
// names the matrix or the preconditioner.
func notPositive(rz, pq float64) string {
	switch {
	case !space.Finite(rz):
		return fmt.Sprintf("r'Mr = %g: the preconditioner is not finite, or too large", rz)
	case !space.Finite(pq):
		return fmt.Sprintf("p'Ap = %g: the matrix is not finite, or too large: scale it", pq)
	case rz <= 0:
		return fmt.Sprintf("r'Mr = %.3g: the preconditioner is not positive definite", rz)
	case pq <= 0:
		return fmt.Sprintf("p'Ap = %.3g: the matrix is not positive definite", pq)
	}
	return ""
}
