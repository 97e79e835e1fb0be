package solver

import (
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// space stores the vectors of a solve and computes with them. Methods name vectors by number; only space accesses
// their elements.
//
// space keeps the first error: products and preconditioners do nothing after it, and failed returns it. Operations
// that read the same vectors are fused, because memory bandwidth limits all of them on large systems.
type space interface {
	load(b, x []float64) (bv, xv vector)              // called once, before all others; bv is none for a nil b
	zero() vector                                     // a new vector of zeros
	set(a float64, src, dst vector)                   // dst = a*src
	round(x vector, exp int)                          // see roundAt
	dot(x, y vector) float64                          // x'y
	dots(x, y vector) (xy, xx float64)                // x'y and x'x
	axpy(a float64, x, y vector) float64              // y = y + a*x; returns y'y
	add(a float64, h []float64, v []vector, w vector) // w = w + a * sum of h[j]*v[j]

	// compute computes a formula and returns its sums, which the next call overwrites. The order of numbers and vectors is
	// that of the formula. After an error the sums are 0 or incomplete.
	compute(f *kernels.Formula, numbers []float64, v ...vector) []float64

	// project followed by subtractProjection makes u and w orthogonal to the vectors v, and w orthogonal to u.
	// This holds for unit vectors v and u; for others, krylov.orthogonal scales g and h between the calls. h has
	// one more element than v, for u.
	//
	//	project             g[j] = v[j]'u, h[j] = v[j]'w, h[len(v)] = u'w
	//	subtractProjection  u = u - sum of g[j]*v[j], then w = w - sum of h[j]*v[j] - h[len(v)]*u; returns w'w
	project(v []vector, u, w vector) (g, h []float64)
	subtractProjection(g, h []float64, v []vector, u, w vector) float64

	// A step of CG is updateResidual and then updateDirection, or updateSolution where no product follows.
	// updateResidual may store M*r in z.
	//
	//	updateResidual   r = r - a*q; returns r'r and r'M*r
	//	updateDirection  x = x + a*p and p = M*r + b*p
	//	updateSolution   x = x + a*p
	//
	// Where updateResidual already adds a*p to x, updateDirection and updateSolution do not.
	updateResidual(a float64, p, q, x, r, z vector) (rr, rz float64)
	updateDirection(a, b float64, r, z, p, x vector)
	updateSolution(a float64, p, x vector)

	product(a float64, x vector, b float64, y vector) // y = a*A*x + b*y
	preconditioned(r, z vector) vector                // stores z = M*r and returns z; without a preconditioner returns r

	// failed returns the first error, once all processes know that one has failed.
	failed() error
	// ended returns the error of the context if it has ended.
	ended() error
	// timings returns the time of the products and of the preconditioner, and the number of products.
	timings() (products, precond time.Duration, count int)
	// fetch copies x back to the slice that load got.
	fetch() error
	// free frees the memory of the vectors, also after an error.
	free() error
}

// vector is the number of a vector of a space.
type vector int

// none is no vector.
const none vector = -1
