package solver

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// IDR solves A x = b by the method of induced dimension reduction IDR(s) with s = 4 (van Gijzen and Sonneveld, "Algorithm
// 913: An elegant IDR(s) variant that efficiently exploits bi-orthogonality properties", ACM Trans. Math. Softw. 38, 2011).
// The matrix may be any square matrix; the preconditioner is applied from the right. x is the first guess, and IDR
// overwrites it with the solution.
//
// The residuals lie in spaces G_j of shrinking dimension, G_(j+1) = (I - w_j A) (G_j intersected with the space
// orthogonal to s fixed vectors). w_j minimises the residual, but is at least 0.7*|r|/|A r|, which keeps the method going
// where A r is almost orthogonal to r (the "maintaining the convergence" strategy of the paper). IDR solves systems with
// which BiCGSTAB breaks down, such as skew-symmetric ones.
//
// An iteration takes one product. Its operations on vectors read and write about 28 n elements. IDR stores 15 vectors in addition to b and x, one more with a preconditioner, and one
// more where b has to be scaled. After a breakdown it restarts from the current x with other vectors. Errors are those
// of CG.
func IDR(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	return solve(ctx, method{name: "idr", iterate: linear(idr), vectors: 3*idrSpace + 4, precondVectors: 1}, a, b, x, opt)
}

const (
	idrSpace = 4   // s, the dimension of the space that residuals are orthogonal to
	idrAngle = 0.7 // least w, in units of |r| / |A r|
)

func idr(t *task) error {
	s := &idrState{task: t, r: t.Zero(), v: t.Zero(), t: t.Zero(), z: space.None}
	if t.opt.Precond != nil {
		s.z = t.Zero()
	}
	for range idrSpace {
		s.g, s.u = append(s.g, t.Zero()), append(s.u, t.Zero())
	}
	factor := 0.5
	for restarts := 0; ; {
		if done, err := t.start(s.r, factor); done {
			return err
		}
		if s.p == nil || factor > 1 {
			s.choose(uint64(restarts))
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
		if restarts++; t.res.Iterations <= first+1 && restarts > 3 || restarts > maxRestarts {
			return t.convergenceError(ErrBreakdown, "%s", broken)
		}
		factor = math.Inf(1) // a restart after a breakdown need not have reduced the residual
	}
}

// idrState is the vectors and numbers of IDR(s).
type idrState struct {
	*task
	r, v, t, z space.Vector
	p          []space.Vector              // s orthonormal vectors
	g, u       []space.Vector              // g_k = A u_k; g_k is orthogonal to p_i for i < k
	m          [idrSpace][idrSpace]float64 // m[i][k] = p_i'g_k, a lower triangle
}

// choose makes orthonormal vectors p of random numbers.
func (s *idrState) choose(seed uint64) {
	for k := range idrSpace {
		if len(s.p) == k {
			s.p = append(s.p, s.Zero())
		}
		v := s.p[k]
		s.Random(v, uint64(idrSpace)*seed+uint64(k))
		for range 2 { // the second pass removes the rounding errors of the first
			for _, other := range s.p[:k] {
				s.Add(-s.Dot(other, v), []float64{1}, []space.Vector{other}, v)
			}
			if size := math.Sqrt(s.Dot(v, v)); size > 0 {
				s.Set(1/size, v, v)
			}
		}
	}
}

// iterate runs iterations from the residual r until the recurrence reaches the tolerance or the method breaks down.
// broken says why it broke down, "" where it did not.
func (s *idrState) iterate() (broken string, err error) {
	f, _ := s.Project(s.p, s.r, s.r)
	omega := 1.0
	for first := true; ; first = false {
		for k := range idrSpace {
			if broken, done, err := s.step(k, f, omega, first); done || broken != "" {
				return broken, err
			}
		}
		z := s.Preconditioned(s.r, s.z)
		s.Product(1, z, 0, s.t)
		tr, tt := s.Dots(s.t, s.r)
		pt, pr := s.Project(s.p, s.t, s.r)
		switch {
		case !space.Finite(tt):
			return "the square of |A r| is not finite: scale the matrix", s.Failed()
		case tt == 0:
			return "A r is zero, or too small to be squared", s.Failed()
		}
		omega = tr / tt
		if least := idrAngle * s.res.History[len(s.res.History)-1] * s.norm / math.Sqrt(tt); math.Abs(omega) < least {
			omega = math.Copysign(least, omega)
		}
		s.Add(omega, []float64{1}, []space.Vector{z}, s.x)
		rr := s.Axpy(-omega, s.t, s.r)
		if near, err := s.recordIteration(math.Sqrt(rr)); near || err != nil {
			return "", err
		}
		for i := range f {
			f[i] = pr[i] - float64(omega*pt[i])
		}
	}
}

// step computes the vectors g_k and u_k, and makes the residual r orthogonal to p_k. f is P'r, whose first k elements are
// 0. In the first pass there are no vectors g_i and u_i for i >= k yet.
func (s *idrState) step(k int, f []float64, omega float64, first bool) (broken string, done bool, err error) {
	s.Set(1, s.r, s.v)
	c := s.solveFrom(k, f)
	if first {
		s.Set(omega, s.Preconditioned(s.v, s.z), s.u[k])
	} else {
		s.Add(-1, c, s.g[k:], s.v)
		z := s.Preconditioned(s.v, s.z)
		s.Set(c[0], s.u[k], s.u[k])
		s.Add(1, append(c[1:], omega), append(s.u[k+1:len(s.u):len(s.u)], z), s.u[k])
	}
	s.Product(1, s.u[k], 0, s.g[k])
	d, pr := s.Project(s.p, s.g[k], s.r)
	size := 0.0
	for _, v := range d {
		size = hypot(size, v)
	}
	copy(f[k:], pr[k:])
	a := make([]float64, k)
	for i := range a {
		a[i] = d[i] / s.m[i][i]
		for l := i; l < idrSpace; l++ {
			d[l] -= float64(a[i] * s.m[l][i])
		}
	}
	if k > 0 {
		s.Add(-1, a, s.g[:k], s.g[k])
		s.Add(-1, a, s.u[:k], s.u[k])
	}
	switch {
	case !space.Finite(size):
		return "the product with A is not finite: scale the matrix", true, s.Failed()
	case math.Abs(d[k]) <= orthogonal*size:
		return "A u is orthogonal to its test vector", true, s.Failed()
	}
	for i := k; i < idrSpace; i++ {
		s.m[i][k] = d[i]
	}
	beta := f[k] / d[k]
	s.Add(beta, []float64{1}, s.u[k:k+1], s.x)
	rr := s.Axpy(-beta, s.g[k], s.r)
	for i := k + 1; i < idrSpace; i++ {
		f[i] -= float64(beta * d[i])
	}
	near, err := s.recordIteration(math.Sqrt(rr))
	return "", near || err != nil, err
}

// solveFrom solves sum over j = k ... s-1 of m[i][j]*c[j-k] = f[i], for i = k ... s-1.
func (s *idrState) solveFrom(k int, f []float64) (c []float64) {
	c = append(c, f[k:]...)
	for j := range c {
		for i := range j {
			c[j] -= float64(s.m[k+j][k+i] * c[i])
		}
		c[j] /= s.m[k+j][k+j]
	}
	return c
}
