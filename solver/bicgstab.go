package solver

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// BiCGSTAB solves A x = b by the biconjugate gradient stabilised method (van der Vorst, 1992). The matrix may be
// any square matrix; the preconditioner is applied from the right. x is the first guess, and BiCGSTAB
// overwrites it with the solution. An iteration takes two products. After a breakdown the method restarts from
// the current x. Errors are those of CG.
func BiCGSTAB(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "bicgstab", iterate: linear(bicgstab), vectors: 6, precondVectors: 2}, a, b, x, opt)
}

// maxRestarts bounds the restarts of BiCGSTAB after breakdowns.
const maxRestarts = 50

// orthogonal is the largest |cosine| of the angle between two vectors that count as orthogonal.
const orthogonal = 1e-14

func bicgstab(t *task) error {
	s := bicgstabState{task: t, r: t.Zero(), shadow: t.Zero(), p: t.Zero(), v: t.Zero(), t: t.Zero(), keptP: space.None, keptR: space.None}
	if t.opt.Precond != nil {
		s.keptP, s.keptR = t.Zero(), t.Zero()
	}
	factor := 0.5
	for restarts := 0; ; {
		if done, err := t.start(s.r, factor); done {
			return err
		}
		first := t.res.Iterations
		broken, err := s.iterate()
		if err != nil {
			return err
		}
		factor = 0.5
		if broken == "" {
			continue
		}
		if restarts++; t.res.Iterations <= first+1 || restarts > maxRestarts {
			return t.convergenceError(ErrBreakdown, "%s", broken)
		}
		factor = math.Inf(1) // a restart after a breakdown need not have reduced the residual
	}
}

// bicgstabState is the vectors of BiCGSTAB.
type bicgstabState struct {
	*task
	r, shadow, p, v, t space.Vector
	keptP, keptR       space.Vector // preconditioned p and r
}

// iterate runs iterations from the residual r until the recurrence reaches the tolerance or the method breaks down.
// broken says why it broke down, "" where it did not.
func (s *bicgstabState) iterate() (broken string, err error) {
	s.Set(1, s.r, s.shadow)
	s.Set(1, s.r, s.p)
	rho := s.Dot(s.r, s.r)
	size := math.Sqrt(rho) // |shadow|
	for {
		p := s.Preconditioned(s.p, s.keptP)
		s.Product(1, p, 0, s.v)
		d, vv := s.Dots(s.v, s.shadow)
		if !space.Finite(vv) {
			return "the square of |A p| is not finite: scale the matrix", s.Failed()
		}
		if math.Abs(d) <= orthogonal*size*math.Sqrt(vv) {
			return "A p is orthogonal to the first residual", s.Failed()
		}
		alpha := rho / d
		norm := math.Sqrt(s.Axpy(-alpha, s.v, s.r))
		if norm <= s.opt.Tol*s.norm {
			s.Add(alpha, []float64{1}, []space.Vector{p}, s.x)
			_, err := s.recordIteration(norm)
			return "", err
		}
		r := s.Preconditioned(s.r, s.keptR)
		s.Product(1, r, 0, s.t)
		ts, tt := s.Dots(s.t, s.r)
		omega := ts / tt
		if tt == 0 || math.Abs(ts) <= orthogonal*norm*math.Sqrt(tt) {
			omega = 0
		}
		sums := s.Compute(kernels.BiCGSTABStep, []float64{alpha, omega}, p, r, s.t, s.shadow, s.x, s.r)
		rr, next := sums[0], sums[1]
		near, err := s.recordIteration(math.Sqrt(rr))
		switch {
		case err != nil || near:
			return "", err
		case tt == 0 || !space.Finite(tt):
			return "A r is zero, or too small or too large to be squared", nil
		case omega == 0:
			return "A r is orthogonal to r", nil
		case math.Abs(next) <= orthogonal*size*math.Sqrt(rr):
			return "the residual is orthogonal to the first one", nil
		}
		s.Compute(kernels.BiCGSTABDirection, []float64{next / rho * alpha / omega, omega}, s.r, s.v, s.p)
		rho = next
	}
}
