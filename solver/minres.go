package solver

import (
	"context"
	"errors"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/solver/internal/space"
)

// MINRES solves A x = b by the minimum residual method (Paige and Saunders, "Solution of sparse indefinite systems of
// linear equations", SIAM J. Numer. Anal. 12, 1975). The matrix must be symmetric; it may be indefinite or singular. The
// preconditioner M must be symmetric and positive definite. x is the first guess, and MINRES overwrites it with the
// solution. In iteration k, x minimises r'M r over the k-th Krylov space of M A.
//
// An iteration takes one product. Its operations on vectors read and write 12 n elements, or 22 n with Jacobi. MINRES
// stores 5 vectors in addition to b and x, 7 with a preconditioner, and two more in rare cases: one where b has to be
// scaled, one where A seems to be singular.
//
// Where A is singular, or within a relative 1e-9 of a singular matrix, and b is not in its range, MINRES ends with
// ErrInconsistent. Without a preconditioner x then minimises |b - A x|, and Result.LeastSquares is true. Other errors are
// those of CG.
func MINRES(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "minres", iterate: linear(minres), vectors: 7, precondVectors: 2}, a, b, x, opt)
}

// minresState is the vectors and numbers of MINRES. With the unit vectors of the Lanczos process v_k, M v_k and the
// tridiagonal matrix T with delta_k on and gamma_k beside its diagonal
//
//	A M v_k = gamma_(k+1) v_(k+1) + delta_k v_k + gamma_k v_(k-1)
//
// v and before are gamma_k v_k and gamma_(k-1) v_(k-1). T is rotated to a triangular matrix R of three diagonals,
// and w_k are the columns of M V R^-1.
type minresState struct {
	*task
	v, before, next space.Vector
	w, wBefore      space.Vector // w_(k-1) and w_(k-2), each times the diagonal element of R in its column
	z, r            space.Vector // with a preconditioner: M v, and the residual
	spare           space.Vector // for a residual
	norm            float64      // largest column of T so far, about |A| without a preconditioner
}

func minres(t *task) error {
	s := &minresState{task: t, v: t.Zero(), before: t.Zero(), next: t.Zero(), w: t.Zero(), wBefore: t.Zero(), z: space.None, r: space.None, spare: space.None}
	if t.opt.Precond != nil {
		s.z, s.r = t.Zero(), t.Zero()
	}
	err := s.solve()
	if errors.Is(err, ErrStagnation) || errors.Is(err, ErrNotConverged) {
		return s.symmetric(err)
	}
	return err
}

func (s *minresState) solve() error {
	for {
		if done, err := s.start(s.v, 0.5); done {
			return err
		}
		if err := s.iterate(); err != nil {
			return err
		}
	}
}

// symmetric returns gaveUp, or an error that names the cause where v'A A v and (A v)'(A v) differ for a vector v.
func (s *minresState) symmetric(gaveUp error) error {
	size := math.Sqrt(s.Dot(s.v, s.v))
	s.Product(1/size, s.v, 0, s.before)
	s.Product(1, s.before, 0, s.next)
	want, most := s.Dot(s.before, s.before), math.Sqrt(s.Dot(s.next, s.next))
	have := s.Dot(s.v, s.next) / size
	if err := s.Failed(); err != nil {
		return err
	}
	if math.Abs(want-have) > 1e-10*max(want, most) {
		return s.convergenceError(ErrBreakdown, "the matrix is not symmetric")
	}
	return gaveUp
}

// inconsistent returns ErrInconsistent where |A z| is zero but for rounding, with z = M r for the residual r of x. z is then
// almost in the null space of A, but not orthogonal to b: no x of reasonable size makes r'z much smaller. All lengths are
// those in which MINRES computes. It overwrites next and M v.
func (s *minresState) inconsistent() error {
	if s.spare == space.None {
		s.spare = s.Zero()
	}
	rel := s.residual(s.spare)
	z := s.Preconditioned(s.spare, s.z)
	size := math.Sqrt(s.Dot(s.spare, z))
	s.Product(1/size, z, 0, s.next)
	image := math.Sqrt(s.Dot(s.next, s.Preconditioned(s.next, s.z)))
	if err := s.Failed(); err != nil {
		return err
	}
	if rel <= s.opt.Tol || !(image <= nearNull*s.norm) {
		return nil
	}
	s.res.Residual, s.res.LeastSquares = rel, s.opt.Precond == nil
	return s.convergenceError(ErrInconsistent, "the matrix is singular, or nearly so: |A z| = %.1e |A| |z| for a vector z that is not orthogonal to b", image/max(s.norm, math.SmallestNonzeroFloat64))
}

// nearNull is the largest |A z| / (|A| |z|) of a vector z that counts as a null vector of A.
const nearNull = 1e-9

// iterate runs iterations from the residual v until the recurrence reaches the tolerance.
func (s *minresState) iterate() error {
	z := s.Preconditioned(s.v, s.z)
	gamma := s.Dot(s.v, z)
	if err := s.Failed(); err != nil {
		return err
	}
	if !(gamma > 0) || !space.Finite(gamma) {
		return s.indefinite(gamma)
	}
	gamma = math.Sqrt(gamma)
	if s.r != space.None {
		s.Set(1, s.v, s.r)
	}
	eta, old := gamma, 1.0 // eta is the length of the residual, old is gamma_(k-1)
	c, cBefore, sn, snBefore := 1.0, 1.0, 0.0, 0.0
	diagonal, diagonalBefore := 1.0, 1.0 // of R, for w and wBefore
	step := 0.0                          // along w, which the next direction adds to x
	checked := math.Inf(1)               // least |A r| / |r| at which the system was found consistent
	for k := 0; ; k++ {
		s.Product(1/gamma, z, 0, s.next)
		delta := s.Dot(s.next, z) / gamma
		square, h, of := 0.0, []float64{delta / gamma, gamma / old}, []space.Vector{s.v, s.before}
		if k == 0 {
			h, of = h[:1], of[:1]
		}
		if s.z == space.None {
			square = s.Combine(-1, h, of, s.next)
		} else {
			s.Add(-1, h, of, s.next)
		}
		// The column of R: above, beside and on the diagonal.
		above, beside := snBefore*gamma, float64(sn*delta)+float64(cBefore*c*gamma)
		on := float64(c*delta) - float64(cBefore*sn*gamma)
		if k == 0 {
			above, beside = 0, 0
		}
		s.direction(k, z, 1/gamma, beside/diagonal, above/diagonalBefore, step)
		s.v, s.before, s.next = s.next, s.v, s.before
		if z = s.Preconditioned(s.v, s.z); s.z != space.None {
			square = s.Dot(s.v, z)
		}
		if err := s.Failed(); err != nil {
			return err
		}
		s.norm = max(s.norm, hypot(hypot(delta, gammaInT(k, gamma)), math.Sqrt(math.Abs(square))))
		small := 1e-15 * s.norm
		switch {
		case !space.Finite(square) || !space.Finite(delta):
			return s.convergenceError(ErrBreakdown, "v'Mv = %g: the matrix or the preconditioner is not finite, or too large: scale it", square)
		case square < -1e-28*s.norm*s.norm:
			return s.indefinite(square)
		case !(square > small*small):
			square = 0
		}
		next := math.Sqrt(square)
		if least := hypot(on, c*next); least <= min(nearNull*s.norm, 0.1*checked) { // |A r| / |r| before this iteration
			checked = least
			if err := s.inconsistent(); err != nil {
				return err
			}
			z = s.Preconditioned(s.v, s.z)
		}
		r := hypot(on, next)
		if r <= small {
			return s.convergenceError(ErrBreakdown, "the matrix is singular: A maps the Krylov space into a smaller one")
		}
		cBefore, snBefore = c, sn
		c, sn = on/r, next/r
		step = c * eta / r
		eta *= -sn
		rr := eta * eta
		if s.r != space.None {
			s.Set(sn*sn, s.r, s.r)
			if next > 0 {
				rr = s.Axpy(c*eta/next, s.v, s.r)
			} else {
				rr = 0
			}
		}
		near, err := s.recordIteration(math.Sqrt(rr))
		if near || err != nil || next == 0 {
			s.Add(step, []float64{1}, []space.Vector{s.w}, s.x)
			return err
		}
		gamma, old = next, gamma
		diagonal, diagonalBefore = r, diagonal
	}
}

// gammaInT returns gamma_k, which is the length of the residual and no element of T for the first vector.
func gammaInT(k int, gamma float64) float64 {
	if k == 0 {
		return 0
	}
	return gamma
}

// direction computes x = x + e*w, with the last w, and the next w = a*z - b*w - c*wBefore.
func (s *minresState) direction(k int, z space.Vector, a, b, c, e float64) {
	s.w, s.wBefore = s.wBefore, s.w
	if k == 0 {
		s.Set(a, z, s.w)
		return
	}
	s.Compute(kernels.MINRESStep, []float64{a, -b, -c, e}, z, s.wBefore, s.w, s.x)
}

func (s *minresState) indefinite(square float64) error {
	return s.convergenceError(ErrBreakdown, "v'Mv = %.3g: the preconditioner is not positive definite, or not finite", square)
}
