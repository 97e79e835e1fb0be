// Package refine solves A x = b with factors of A and improves the solution until its residual is within a tolerance.
package refine

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// System is a system A x = b with factors of A.
type System struct {
	A *sparse.CSR[float64]
	B []float64
	// Norm is |b|, in the 2-norm.
	Norm float64
	// Apply computes z = M r for an approximate inverse M of A, such as that of its factors.
	Apply func(r, z []float64) error
	// Tol is the relative residual to reach.
	Tol float64
	// Progress is called with the relative residual after each step.
	Progress func(step int, residual float64)
}

// Outcome is the result of a refinement.
type Outcome struct {
	Residual float64 // |b - A x|/|b| of the x that was found
	Steps    int     // applications of M
	// Rounded reports that rounding x to float64 causes the residual: x before rounding has less than a quarter of it. Nearly
	// always no x in float64 then has a much smaller residual.
	Rounded bool
}

// These are the largest numbers of steps in float64, and with twice the digits.
const (
	steps         = 10
	extendedSteps = 30
)

// Solve computes x. Each step adds M (b - A x) to x, until the residual is within the tolerance or no longer halves
// (iterative refinement; Wilkinson, Rounding errors in algebraic processes, 1963). The residual that decides is computed
// with twice the digits: x of a nearly singular system may be so large that b is lost in the rounding errors of A x, and a
// float64 residual is then 0 for a wrong x. If it is above the tolerance, Solve repeats the steps with twice the digits in x
// and in b - A x (Demmel, Hida, Kahan, Li, Mukherjee and Riedy, Error bounds from extra-precise iterative refinement, ACM
// Trans. Math. Softw. 32 (2006) 325-351), and rounds x at the end.
func (s *System) Solve(ctx context.Context, x []float64) (Outcome, error) {
	clear(x)
	out := Outcome{Residual: 1}
	n := len(s.B)
	r, z := make([]float64, n), make([]float64, n)
	copy(r, s.B)
	for k := range steps {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		if err := s.Apply(r, z); err != nil {
			return out, err
		}
		for i, e := range z {
			z[i] = x[i] + e
		}
		last := out.Residual
		rel := s.misfit(z, r)
		out.Steps = k + 1
		if rel < last || k == 0 {
			copy(x, z)
			out.Residual = rel
			s.progress(out)
		}
		if out.Residual <= s.Tol || !(rel < last/2) && k > 0 {
			break
		}
	}
	return s.extend(ctx, x, r, z, out)
}

func (s *System) progress(out Outcome) {
	if s.Progress != nil {
		s.Progress(out.Steps, out.Residual)
	}
}

// misfit computes r = b - A x and returns |r|/|b|, infinity where it is not a number.
func (s *System) misfit(x, r []float64) float64 {
	a := s.A
	for i := range r {
		sum := s.B[i]
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			sum -= float64(a.Val[k] * x[a.ColIdx[k]])
		}
		r[i] = sum
	}
	return s.relative(r)
}

// relative returns |r|/|b|, infinity where it is not a number.
func (s *System) relative(r []float64) float64 {
	largest := 0.0
	for _, e := range r {
		if e != e {
			return math.Inf(1)
		}
		largest = max(largest, math.Abs(e))
	}
	if largest == 0 || math.IsInf(largest, 0) {
		return largest
	}
	sum := 0.0
	for _, e := range r {
		e /= largest
		sum += e * e
	}
	return largest / s.Norm * math.Sqrt(sum)
}
