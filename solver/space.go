package solver

import "time"

// space is where the vectors of a solve live, and what is done with them. Methods
// know vectors by number, and only space looks into them.
//
// The first failure is kept: products and preconditioners do nothing after it, and
// failed gives it. Operations that read the same vectors are one: on large systems
// all of them wait for the memory.
type space interface {
	load(b, x []float64) (bv, xv vector) // once, before all others; b may be nil, and bv then is none
	zero() vector
	set(a float64, src, dst vector)                        // dst = a*src
	round(x vector, exp int)                               // roundAt
	dot(x, y vector) float64                               // x'y
	dots(x, y vector) (xy, xx float64)                     // x'y and x'x
	misfit(y vector, a float64, x vector) float64          // |y - a*x|^2
	axpy(a float64, x, y vector) float64                   // y = y + a*x, and y'y
	bicgstabDirection(r vector, b, w float64, v, p vector) // p = r + b*(p - w*v)
	add(a float64, h []float64, v []vector, w vector)      // w = w + a * sum of h[j]*v[j]

	// project and then remove make u and w orthogonal to the vectors of v, and w to u, where all but w are unit
	// vectors (krylov.orthogonal has what changes g and h for others). h has one number more than v, for u:
	//
	//	project  g[j] = v[j]'u, and h[j] = v[j]'w and u'w
	//	remove   u = u - sum of g[j]*v[j], and then w = w - sum of h[j]*v[j] - h[len(v)]*u, and w'w
	project(v []vector, u, w vector) (g, h []float64)
	subtractProjection(g, h []float64, v []vector, u, w vector) float64

	// bicgstabStep is x = x + a*p + w*s and r = r - w*t, and r'r and c'r.
	bicgstabStep(a float64, p vector, w float64, s, x, t, r, c vector) (rr, cr float64)

	// updateResidual and then rise, or land where no product follows, are a step of CG, with z for
	// updateResidual to keep M*r:
	//
	//	fall   r = r - a*q, and r'r and r'M*r
	//	rise   x = x + a*p and p = M*r + b*p
	//	land   x = x + a*p
	//
	// updateResidual may add a*p to x already, and rise and land then do not.
	updateResidual(a float64, p, q, x, r, z vector) (rr, rz float64)
	updateDirection(a, b float64, r, z, p, x vector)
	updateSolution(a float64, p, x vector)

	product(a float64, x vector, b float64, y vector) // y = a*A*x + b*y
	preconditioned(r, z vector) vector                // z = M*r, kept in z; or r itself without a preconditioner

	// failed is the first failure, which all processes know of.
	failed() error
	// ended is why the solve is to end before it is done: its context.
	ended() error
	// timings is what the products and the preconditioner took, and the number of products.
	timings() (products, precond time.Duration, count int)
	// fetch brings x to where load found it.
	fetch() error
	// free gives back the memory of the vectors, whatever has happened to them.
	free() error
}

// vector is the number of a vector of a space.
type vector int

// none is no vector.
const none vector = -1
