package kernels

import (
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/sparse"
)

// Multiply is z = d*r, element by element.
var Multiply = define("multiply", "", "d r &z", 0, multiply[float64], multiply[float32])

func multiply[V sparse.Value](_ []V, v [][]V, _ []vec.Sum) { vec.Multiply(v[0], v[1], v[2]) }

// Misfit is the sum |y - a*x|^2.
var Misfit = define("misfit", "a", "y x", 1, misfit[float64], misfit[float32])

func misfit[V sparse.Value](a []V, v [][]V, s []vec.Sum) { s[0][0] += vec.Misfit(v[0], a[0], v[1]) }

// CGStep ends an iteration of CG (Hestenes and Stiefel, 1952):
//
//	x = x + a*p
//	r = r - a*q
//	sum: r'r
//
// x is the solution, r its residual, p the search direction, and q the matrix times p. a = r'z / p'q, where z is the
// preconditioned r, or r itself without a preconditioner. a = 0 leaves x and r as they are, whatever p and q hold.
var CGStep = define("cg-step", "a", "p q &x &r", 1, cgStep[float64], cgStep[float32])

func cgStep[V sparse.Value](a []V, v [][]V, s []vec.Sum) {
	if a[0] == 0 {
		s[0][0] += vec.Dot(v[3], v[3])
		return
	}
	s[0][0] += vec.CGStep(a[0], v[0], v[1], v[2], v[3])
}

// CGDirection computes the next search direction of CG:
//
//	p = z + b*p
//
// z is as in CGStep, and b = r'z / the previous r'z. b = 0 does not read p.
var CGDirection = define("cg-direction", "b", "z &p", 0, cgDirection[float64], cgDirection[float32])

func cgDirection[V sparse.Value](b []V, v [][]V, _ []vec.Sum) { vec.Axpby(1, v[0], b[0], v[1]) }

// BiCGSTABDirection computes the next search direction of BiCGSTAB (van der Vorst, 1992):
//
//	p = r + b*(p - w*v)
//
// r is the residual and v the matrix times the old p, or times the preconditioned old p. a, w and c are those of the
// BiCGSTABStep before, and b = (c'r / the previous c'r) * (a / w).
var BiCGSTABDirection = define("bicgstab-direction", "b w", "r v &p", 0, bicgstabDirection[float64], bicgstabDirection[float32])

func bicgstabDirection[V sparse.Value](n []V, v [][]V, _ []vec.Sum) {
	vec.BiCGSTABDirection(v[0], n[0], n[1], v[1], v[2])
}

// BiCGSTABStep ends an iteration of BiCGSTAB (van der Vorst, 1992):
//
//	x = x + a*p + w*s
//	r = r - w*t
//	sums: r'r, c'r
//
// x is the solution and p the search direction. On entry r is the residual minus a*v, with v as in BiCGSTABDirection and
// a = c'r / c'v with the r before that subtraction. s is r on entry and may be the same vector; t is the matrix times s, and
// w = t'r / t't. With a preconditioner, p and s are the preconditioned direction and the preconditioned r. c is any vector
// that stays the same in all iterations, usually the first residual.
var BiCGSTABStep = define("bicgstab-step", "a w", "p s|r t c &x &r", 2, bicgstabStep[float64], bicgstabStep[float32])

func bicgstabStep[V sparse.Value](n []V, v [][]V, sums []vec.Sum) {
	p, s, t, c, x, r := v[0], v[1], v[2], v[3], v[4], v[5]
	vec.AddBiCGSTABStep(n[0], p, n[1], s, x, t, r, c, &sums[0], &sums[1])
}

// MINRESStep ends an iteration of MINRES (Paige and Saunders, 1975) and begins the next:
//
//	x = x + e*u
//	w = a*z + b*u + c*w
//
// x is the solution. u is the direction of the ended iteration, and w on entry the one before it; both are multiplied by a
// diagonal element of the triangular matrix. z is the Lanczos vector of the next iteration, preconditioned.
var MINRESStep = define("minres-step", "a b c e", "z u &w &x", 0, minresStep[float64], minresStep[float32])

func minresStep[V sparse.Value](n []V, v [][]V, _ []vec.Sum) {
	vec.MINRESStep(n[0], v[0], n[1], v[1], n[2], v[2], n[3], v[3])
}

// LSMRStep ends an iteration of LSMR (Fong and Saunders, 2011):
//
//	w = h - a*w
//	x = x + b*w
//	h = c*v - d*h
//
// x is the solution, w and h are the directions (h-bar and h in the paper), and c*v is the next right vector of the
// Golub-Kahan process.
var LSMRStep = define("lsmr-step", "a b c d", "v &w &x &h", 0, lsmrStep[float64], lsmrStep[float32])

func lsmrStep[V sparse.Value](n []V, v [][]V, _ []vec.Sum) {
	vec.LSMRStep(n[0], v[1], n[1], v[2], n[2], v[0], n[3], v[3])
}

// ChebyshevStart begins a polynomial in D^-1 A, applied to b, with x = 0 (Saad, 2003, algorithm 12.1):
//
//	d = c*m*b
//	x = d
//	r = b
//
// m is the inverse of the diagonal D, x the solution of A x = b, r its residual once A*d is subtracted, and d its step.
var ChebyshevStart = define("chebyshev-start", "c", "m b &d &x &r", 0, chebyshevStart[float64], chebyshevStart[float32])

func chebyshevStart[V sparse.Value](n []V, v [][]V, _ []vec.Sum) {
	vec.ChebyshevStart(n[0], v[0], v[1], v[2], v[3], v[4])
}

// ChebyshevStep is a later step of ChebyshevStart, after r = r - A*d:
//
//	d = a*d + c*m*r
//	x = x + d
var ChebyshevStep = define("chebyshev-step", "a c", "m r &d &x", 0, chebyshevStep[float64], chebyshevStep[float32])

func chebyshevStep[V sparse.Value](n []V, v [][]V, _ []vec.Sum) {
	vec.ChebyshevStep(n[0], n[1], v[0], v[1], v[2], v[3])
}
