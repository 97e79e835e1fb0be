package solver

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// Power finds the eigenvalue of largest magnitude of a square matrix, and its eigenvector, by power iteration:
//
//	x = A x / |A x|
//
// x is the first guess, and Power overwrites it with the eigenvector of length 1. For a zero x it starts from a
// fixed random vector.
//
// It ends when |A x - lambda x| <= Tol*|lambda|, where lambda = x'A x and both are computed from x itself.
// Result.Residual is |A x - lambda x| / |lambda|, or +Inf where lambda is 0 or the error is ErrBreakdown. Power
// does not converge where two different eigenvalues have the largest magnitude, for example a complex pair.
// Options.Precond and Options.Restart are not used. Errors are those of CG. ErrBreakdown means that A x is zero,
// as with a zero or nilpotent matrix, or that |A x| is below 1e-135 or its square overflows: scale the matrix.
func Power(ctx context.Context, a Operator, x []float64, opt Options) (lambda float64, res *Result, err error) {
	opt.Precond = nil
	res, err = solve(ctx, method{name: "power", eigen: true, vectors: 1, iterate: func(t *task) (err error) {
		lambda, err = power(t)
		return err
	}}, a, nil, x, opt)
	return lambda, res, err
}

// firstVector divides x by largest, the magnitude of its largest element, so that squares are finite. Where
// largest is 0, it fills x with random numbers instead. x is the piece of the vector that begins at element
// first.
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

// leastNorm is the least length of A x: its square, and that of the residual at the smallest tolerance, are
// computed in full precision.
const leastNorm = 0x1p-450

func power(t *task) (lambda float64, err error) {
	y := t.Zero()
	t.Set(1/math.Sqrt(t.Dot(t.x, t.x)), t.x, t.x)
	t.norm, t.best = 1, math.Inf(1)
	for {
		t.Product(1, t.x, 0, y)
		lambda = t.Dot(t.x, y)
		norm := math.Sqrt(t.Dot(y, y))
		if err := t.Failed(); err != nil {
			return lambda, err
		}
		if !space.Finite(norm) || norm < leastNorm {
			t.res.Residual = math.Inf(1)
			return lambda, t.convergenceError(ErrBreakdown, "|A x| = %g: it is zero, or too small or too large to be squared", norm)
		}
		t.res.Residual = math.Sqrt(t.Compute(kernels.Misfit, []float64{lambda}, y, t.x)[0]) / math.Abs(lambda)
		// lambda may be 0 in an early iteration, and the residual then is infinite. That is not a breakdown.
		if near, err := t.recordIteration(min(t.res.Residual, math.MaxFloat64)); near || err != nil {
			t.res.Converged = near
			return lambda, err
		}
		t.Set(1/norm, y, t.x)
	}
}
