package solver

import (
	"context"
	"math"
)

// BiCGSTAB solves A x = b by the stabilised method of biconjugate gradients (van
// der Vorst, 1992) for any square matrix, preconditioned from the right. x is the
// first guess and takes the solution. An iteration takes two products. Where the
// method breaks down it begins anew from where it is. Errors are those of CG.
func BiCGSTAB(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "bicgstab", iterate: linear(bicgstab), vectors: 6, kept: 2}, a, b, x, opt)
}

// maxRestarts is how often BiCGSTAB begins anew after a breakdown.
const maxRestarts = 50

// orthogonal is the cosine below which two vectors count as orthogonal.
const orthogonal = 1e-14

func bicgstab(t *task) error {
	s := stabilised{task: t, r: t.zero(), shadow: t.zero(), p: t.zero(), v: t.zero(), t: t.zero(), keptP: none, keptR: none}
	if t.opt.Precond != nil {
		s.keptP, s.keptR = t.zero(), t.zero()
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
			return t.give(ErrBreakdown, "%s", broken)
		}
		factor = math.Inf(1) // it did not claim to be near
	}
}

// stabilised is the vectors of BiCGSTAB.
type stabilised struct {
	*task
	r, shadow, p, v, t vector
	keptP, keptR       vector // preconditioned
}

// iterate goes on from the residual r until that is near zero or the method breaks
// down, and says how.
func (s *stabilised) iterate() (broken string, err error) {
	s.set(1, s.r, s.shadow)
	s.set(1, s.r, s.p)
	rho := s.dot(s.r, s.r)
	size := math.Sqrt(rho) // of shadow
	for {
		p := s.preconditioned(s.p, s.keptP)
		s.product(1, p, 0, s.v)
		d, vv := s.dots(s.v, s.shadow)
		if !finite(vv) {
			return "the square of |A p| is not finite: scale the matrix", s.failed()
		}
		if math.Abs(d) <= orthogonal*size*math.Sqrt(vv) {
			return "A p is orthogonal to the first residual", s.failed()
		}
		alpha := rho / d
		norm := math.Sqrt(s.axpy(-alpha, s.v, s.r))
		if norm <= s.opt.Tol*s.norm {
			s.add(alpha, []float64{1}, []vector{p}, s.x)
			_, err := s.note(norm)
			return "", err
		}
		r := s.preconditioned(s.r, s.keptR)
		s.product(1, r, 0, s.t)
		ts, tt := s.dots(s.t, s.r)
		omega := ts / tt
		if tt == 0 || math.Abs(ts) <= orthogonal*norm*math.Sqrt(tt) {
			omega = 0
		}
		rr, next := s.bicgstabStep(alpha, p, omega, r, s.x, s.t, s.r, s.shadow)
		near, err := s.note(math.Sqrt(rr))
		switch {
		case err != nil || near:
			return "", err
		case tt == 0 || !finite(tt):
			return "A r is zero, or too small or too large to be squared", nil
		case omega == 0:
			return "A r is orthogonal to r", nil
		case math.Abs(next) <= orthogonal*size*math.Sqrt(rr):
			return "the residual is orthogonal to the first one", nil
		}
		s.bicgstabDirection(s.r, next/rho*alpha/omega, omega, s.v, s.p)
		rho = next
	}
}
