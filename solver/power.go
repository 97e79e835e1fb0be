package solver

import (
	"context"
	"math"
	"math/rand/v2"
)

// Power finds the eigenvalue of largest magnitude of a square matrix, and its
// eigenvector, by power iteration: x = A x / |A x|. x is the first guess and takes
// the vector, of length 1; zero stands for a fixed random one.
//
// It ends when |A x - lambda x| <= Tol*|lambda| with lambda = x'A x, computed from x
// itself: Result.Residual is |A x - lambda x| / |lambda|, +Inf where lambda is 0 and with
// ErrBreakdown. Where two eigenvalues share the largest magnitude, as a complex pair does,
// it does not converge. Options.Precond and Restart are not used. Errors are those of CG;
// ErrBreakdown says that A x is zero, as with a zero or nilpotent matrix, or that its length
// is below 1e-135 or its square not finite: scale the matrix.
func Power(ctx context.Context, a Operator, x []float64, opt Options) (lambda float64, res *Result, err error) {
	opt.Precond = nil
	res, err = solve(ctx, method{name: "power", eigen: true, vectors: 1, iterate: func(t *task) (err error) {
		lambda, err = power(t)
		return err
	}}, a, nil, x, opt)
	return lambda, res, err
}

// firstVector brings a first guess to a size whose square is finite: largest is that
// of its elements. For zero it makes a random one; x begins at element first of the
// whole vector.
func firstVector(x []float64, largest float64, first int) {
	random := rand.New(rand.NewPCG(1, 2))
	if largest == 0 {
		for range first {
			random.Float64()
		}
	}
	for i := range x {
		if largest == 0 {
			x[i] = 2*random.Float64() - 1
		} else {
			x[i] /= largest
		}
	}
}

// leastNorm is a length whose square has all its digits, and so has that of a residual
// of the least tolerance.
const leastNorm = 0x1p-450

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
		if !finite(norm) || norm < leastNorm {
			t.res.Residual = math.Inf(1)
			return lambda, t.give(ErrBreakdown, "|A x| = %g: it is zero, or too small or too large to be squared", norm)
		}
		t.res.Residual = math.Sqrt(t.misfit(y, lambda, t.x)) / math.Abs(lambda)
		// x'A x is 0 on the way where x and A x have no element in common: as good as no eigenvalue yet, but no breakdown.
		if near, err := t.note(min(t.res.Residual, math.MaxFloat64)); near || err != nil {
			t.res.Converged = near
			return lambda, err
		}
		t.set(1/norm, y, t.x)
	}
}
