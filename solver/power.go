package solver

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/msrep-go/msrep/sparse"
)

// Power finds the eigenvalue of largest magnitude of a square matrix, and its
// eigenvector, by power iteration: x = A x / |A x|. x is the first guess and takes
// the vector, of length 1; zero stands for a fixed random one.
//
// It ends when |A x - lambda x| <= Tol*|lambda| with lambda = x'A x, computed from x
// itself: Result.Residual is |A x - lambda x| / |lambda|. Where two eigenvalues share
// the largest magnitude, as a complex pair does, it does not converge. Options.Precond
// and Restart are not used. Errors are those of CG; ErrBreakdown says that A x is
// zero or not finite.
func Power(ctx context.Context, a Operator, x []float64, opt Options) (lambda float64, res *Result, err error) {
	opt.Precond = nil
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		if largest == 0 {
			x[i] = 2*random.Float64() - 1
		} else if finite(largest) { // its square must be finite too
			x[i] /= largest
		}
	}
	if len(x) == 0 {
		return 0, nil, sparse.Inputf("x", "has no elements: an empty matrix has no eigenvalue")
	}
	b := make([]float64, len(x)) // not used, but a system has one
	b[0] = 1
	res, err = solve(ctx, "power", a, b, x, opt, func(t *task) (err error) {
		lambda, err = power(t)
		return err
	})
	return lambda, res, err
}

func power(t *task) (lambda float64, err error) {
	y := t.zero()
	t.set(1/math.Sqrt(t.dot(t.x, t.x)), t.x, t.x)
	t.norm, t.best = 1, math.Inf(1)
	for {
		t.product(1, t.x, 0, y)
		lambda = t.dot(t.x, y)
		norm := math.Sqrt(t.dot(y, y))
		if err := t.failed(); err != nil {
			return lambda, err
		}
		if !finite(norm) || norm == 0 {
			return lambda, t.give(ErrBreakdown, "|A x| = %g", norm)
		}
		t.res.Residual = math.Sqrt(t.misfit(y, lambda, t.x)) / math.Abs(lambda)
		if near, err := t.note(t.res.Residual); near || err != nil {
			t.res.Converged = near
			return lambda, err
		}
		t.set(1/norm, y, t.x)
	}
}
