package solver

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// LSMR solves A x = b, or finds the x that minimises |b - A x|, for a matrix of any shape and rank (Fong and Saunders,
// "LSMR: An iterative algorithm for sparse least-squares problems", SIAM J. Sci. Comput. 33, 2011). It runs MINRES on the
// normal equations A'A x = A'b without forming A'A: an iteration takes one product with A and one with A', and reads and
// writes 3 vectors as long as b and 10 as long as x. With
// Options.Damping = d it minimises
//
//	|b - A x|^2 + d^2 |x - x0|^2
//
// where x0 is the first guess. LSMR overwrites the first guess with the solution. From x0 = 0, and without a
// preconditioner, x is the shortest of all solutions.
//
// LSMR has converged when, computed from x itself,
//
//	|b - A x| <= Tol |b|, or
//	|A'r| <= Tol |A| |r|, where r = b - A x: then Result.LeastSquares is true
//
// |A| is the length of the longest column of the bidiagonal matrix of the process, which is at most the 2-norm. With damping, A and r in the second line are those of the
// system with the rows d*I. A matrix without more rows than columns usually has a solution, so that LSMR asks
// for 1e-12 in place of a larger Tol in the second line. A solve that ends before returns a *ConvergenceError; other errors
// are those of CG.
//
// Options.Precond is a preconditioner N from the right, x = x0 + N y, and then A is A N in the lines above. It must be
// symmetric and have one row for each column of A, such as ColumnScaling. The damping is of y then.
//
// Options.MaxIter of 0 means 10 times the columns. LSMR stores 1 vector as long as b and 3 as long as x, 6 with a
// preconditioner, 4 with damping; two more as long as b in rare cases. A Distributed operator must be square and support
// products with msrep.Trans.
func LSMR(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	m := method{name: "lsmr", iterate: linear(lsmr), transposed: true, rowVectors: 3, vectors: 3, precondVectors: 3}
	if opt.Damping != 0 && opt.Precond == nil {
		m.vectors++
	}
	return solve(ctx, m, a, b, x, opt)
}

// leastTol is the tolerance of |A'r| for systems that usually have a solution.
const leastTol = 1e-12

// lsmrState is the vectors and numbers of LSMR. The unit vectors u_k and v_k of the Golub-Kahan process
//
//	beta_(k+1) u_(k+1) = A v_k - alpha_k u_k
//	alpha_(k+1) v_(k+1) = A'u_(k+1) - beta_(k+1) v_k
//
// are stored as beta_k u_k and alpha_k v_k. h and bar are the directions h_k and hbar_k of the paper.
type lsmrState struct {
	*task
	u           space.Vector
	v, h, bar   space.Vector
	y           space.Vector // N y = x - x0; x itself without preconditioner and damping
	w, z        space.Vector // with a preconditioner: A'u, and a preconditioned vector
	tol         float64      // of |A'r|
	norm        float64      // largest |A v_k| so far, with the rows of the damping
	alpha, beta float64
}

func lsmr(t *task) error {
	s := &lsmrState{task: t, u: t.Zero(), v: t.Column(), h: t.Column(), bar: t.Column(), y: t.x, w: space.None, z: space.None, tol: t.opt.Tol}
	if t.opt.Precond != nil {
		s.w, s.z = t.Column(), t.Column()
	}
	if t.opt.Precond != nil || t.opt.Damping != 0 {
		s.y = t.Column()
	}
	if !t.tall && t.opt.Damping == 0 {
		s.tol = min(s.tol, leastTol)
	}
	for first := true; ; first = false {
		if done, err := t.start(s.u, 0.5); done {
			return err
		}
		least, err := s.normal(first)
		switch {
		case err != nil:
			return err
		case least:
			t.res.Converged, t.res.LeastSquares = true, true
			return nil
		case !first && t.opt.Damping != 0: // a second run would need u and y as its right-hand side
			return t.convergenceError(ErrStagnation, "|A'r| computed from x is above the tolerance, the one of the recurrence is not")
		}
		if err := s.iterate(); err != nil {
			return err
		}
	}
}

// image computes v = N A'u/size - c*v and returns its length.
func (s *lsmrState) image(size, c float64) float64 {
	if c != 0 {
		s.Set(-c, s.v, s.v)
	}
	if s.z == space.None {
		s.Transposed(1/size, s.u, boolToFloat(c != 0), s.v)
		return math.Sqrt(s.Dot(s.v, s.v))
	}
	s.Transposed(1/size, s.u, 0, s.w)
	z := s.Preconditioned(s.w, s.z)
	if c == 0 {
		s.Set(1, z, s.v)
		return math.Sqrt(s.Dot(s.v, s.v))
	}
	return math.Sqrt(s.Axpy(1, z, s.v))
}

// normal computes v_1 from the residual u of x. It reports whether x is a least squares solution; before the first
// iteration there is no estimate of |A|, and only A'r = 0 counts.
func (s *lsmrState) normal(first bool) (least bool, err error) {
	d := s.opt.Damping
	s.beta = math.Sqrt(s.Dot(s.u, s.u))
	_, exp := math.Frexp(s.beta)
	s.Set(math.Ldexp(1, -exp), s.u, s.u) // so that products with tiny elements do not underflow; it changes no other bit
	s.alpha = s.image(math.Ldexp(s.beta, -exp), 0)
	s.Set(math.Ldexp(1, exp), s.u, s.u)
	residual, length := s.beta, s.alpha*s.beta
	if d != 0 && !first { // with the rows d*I
		s.Set(1, s.v, s.h)
		length = s.beta * math.Sqrt(s.Axpy(-d*d/s.beta, s.y, s.h))
		residual = hypot(s.beta, d*math.Sqrt(s.Dot(s.y, s.y)))
	}
	if length < leastNorm { // zero, or a square that underflows
		if s.z != space.None {
			s.Set(1, s.w, s.v) // A'u itself: N may be singular
		}
		for range 3 {
			s.Set(0x1p400, s.v, s.v)
			if s.Dot(s.v, s.v) != 0 {
				err = s.convergenceError(ErrBreakdown, "|A'r| is too small to be squared, or the preconditioner is singular: scale the matrix")
				break
			}
		}
	}
	if !space.Finite(length) {
		err = s.convergenceError(ErrBreakdown, "the square of |A'r| is not finite: scale the matrix or the preconditioner")
	}
	if failed := s.Failed(); failed != nil {
		err = failed
	}
	return length == 0 || !first && length <= 2*s.tol*s.norm*residual, err
}

// iterate adds to x the solution for the residual u, with v = A'u/|u|.
func (s *lsmrState) iterate() error {
	if s.y != s.x {
		s.Set(0, s.y, s.y)
	}
	err := s.process()
	if s.y != s.x && s.Failed() == nil {
		change := s.y
		if s.z != space.None {
			change = s.Preconditioned(s.y, s.z)
		}
		s.Add(1, []float64{1}, []space.Vector{change}, s.x)
	}
	return err
}

// process runs the Golub-Kahan process until |b - A x| or |A'r| is within its tolerance. Names are those of the paper:
// alphaBar, rhoBar and so on for the letters with a bar.
func (s *lsmrState) process() error {
	alpha, beta, d := s.alpha, s.beta, s.opt.Damping
	alphaBar, zetaBar := alpha, alpha*beta
	rho, rhoBar, cBar, sBar := 1.0, 1.0, 1.0, 0.0
	length := residualLength{betaDots: beta, rhoDot: 1}
	s.Set(1/alpha, s.v, s.h)
	s.Set(0, s.bar, s.bar)
	for {
		s.Set(-alpha/beta, s.u, s.u)
		s.Product(1/alpha, s.Preconditioned(s.v, s.z), 1, s.u)
		beta = math.Sqrt(s.Dot(s.u, s.u))
		before := alpha
		if alpha = 0; beta > 0 {
			alpha = s.image(beta, beta/before)
		}
		if err := s.Failed(); err != nil {
			return err
		}
		if !space.Finite(alpha) || !space.Finite(beta) {
			return s.convergenceError(ErrBreakdown, "the square of |A v| is not finite: scale the matrix or the preconditioner")
		}
		s.norm = max(s.norm, hypot(hypot(before, beta), d))

		cHat, sHat, alphaHat := rotation(alphaBar, d)
		oldRho := rho
		var c, sn float64
		c, sn, rho = rotation(alphaHat, beta)
		theta := sn * alpha
		alphaBar = c * alpha
		oldRhoBar, thetaBar, zetaOld := rhoBar, sBar*rho, zetaBar
		cBar, sBar, rhoBar = rotation(cBar*rho, theta)
		zeta := cBar * zetaOld
		zetaBar = -sBar * zetaOld
		if rho == 0 || rhoBar == 0 {
			return s.convergenceError(ErrBreakdown, "A v is zero: |A'r| is too small to be squared")
		}

		scale := 0.0 // after the last iteration there is no v
		if alpha > 0 {
			scale = 1 / alpha
		}
		s.Compute(kernels.LSMRStep, []float64{thetaBar / oldRho * rho / oldRhoBar, zeta / rho / rhoBar, scale, theta / rho}, s.v, s.bar, s.y, s.h)

		residual := length.next(cHat, sHat, c, sn, thetaBar, rhoBar, zeta)
		near, err := s.recordIteration(residual)
		if near || err != nil || math.Abs(zetaBar) <= s.tol*s.norm*residual {
			return err
		}
	}
}

// residualLength computes the length of the residual, with the rows of the damping, from the numbers of the process
// (section 5.1 of the paper). The residual is rotated to the elements betaDots below and betaDot - tau; those before them
// are 0.
type residualLength struct {
	betaDots, betaDot             float64 // with two dots and with one
	rhoDot, tau, thetaTilde, zeta float64
	damped                        float64 // sum of the squares that the damping removes
}

// next returns the length after an iteration.
func (r *residualLength) next(cHat, sHat, c, s, thetaBar, rhoBar, zeta float64) float64 {
	acute, check := cHat*r.betaDots, -sHat*r.betaDots
	hat := c * acute
	r.betaDots = -s * acute
	oldTheta := r.thetaTilde
	cTilde, sTilde, rhoTilde := rotation(r.rhoDot, thetaBar)
	r.thetaTilde = sTilde * rhoBar
	r.rhoDot = cTilde * rhoBar
	r.betaDot = float64(cTilde*hat) - float64(sTilde*r.betaDot)
	r.tau = (r.zeta - float64(oldTheta*r.tau)) / rhoTilde
	r.zeta = zeta
	last := (zeta - float64(r.thetaTilde*r.tau)) / r.rhoDot
	r.damped += float64(check * check)
	return hypot(hypot(math.Sqrt(r.damped), r.betaDot-last), r.betaDots)
}

// rotation returns the rotation (c s; -s c) that maps (a, b) to (r, 0).
func rotation(a, b float64) (c, s, r float64) {
	if b == 0 {
		if a == 0 {
			return 1, 0, 0
		}
		return 1, 0, a
	}
	r = hypot(a, b)
	return a / r, b / r, r
}
