package space

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
)

// Space stores the vectors of a solve and computes with them. Methods name vectors by number; only Space accesses
// their elements. All vectors of an operation other than a product have the same length.
//
// Space keeps the first error: products and preconditioners do nothing after it, and Failed returns it. Operations
// that read the same vectors are fused, because memory bandwidth limits all of them on large systems.
type Space interface {
	Load(b, x []float64) (bv, xv Vector)              // called once, before all others; bv is None for a nil b
	Zero() Vector                                     // a new vector of zeros, with an element for each row
	Column() Vector                                   // a new vector of zeros, with an element for each column; x is such a vector
	Set(a float64, src, dst Vector)                   // dst = a*src
	Random(v Vector, seed uint64)                     // v = numbers between -1 and 1, the same for any devices and processes
	Round(x Vector, exp int)                          // rounded to x whose product by 2^exp is a float64
	Dot(x, y Vector) float64                          // x'y
	Dots(x, y Vector) (xy, xx float64)                // x'y and x'x
	Axpy(a float64, x, y Vector) float64              // y = y + a*x; returns y'y
	Add(a float64, h []float64, v []Vector, w Vector) // w = w + a * sum of h[j]*v[j]

	// Combine is Add of at least one vector, and returns w'w.
	Combine(a float64, h []float64, v []Vector, w Vector) float64

	// Compute computes a formula and returns its sums, which the next call overwrites. The order of numbers and vectors is
	// that of the formula. After an error the sums are 0 or incomplete.
	Compute(f *kernels.Formula, numbers []float64, v ...Vector) []float64

	// Project followed by SubtractProjection makes u and w orthogonal to the vectors v, and w orthogonal to u.
	// This holds for unit vectors v and u; for others, krylov.orthogonal scales g and h between the calls. h has
	// one more element than v, for u.
	//
	//	Project             g[j] = v[j]'u, h[j] = v[j]'w, h[len(v)] = u'w
	//	SubtractProjection  u = u - sum of g[j]*v[j], then w = w - sum of h[j]*v[j] - h[len(v)]*u; returns w'w
	Project(v []Vector, u, w Vector) (g, h []float64)
	SubtractProjection(g, h []float64, v []Vector, u, w Vector) float64

	// Inner returns g[j][i] = v[i]'w[j].
	Inner(v, w []Vector) [][]float64
	// Rotate replaces v[j] by the sum of y[j][i]*v[i] over all i, for each j < len(y) <= len(v), where the v are those
	// before the call. Afterwards the other vectors are unspecified.
	Rotate(v []Vector, y [][]float64)

	// A step of CG is UpdateResidual and then UpdateDirection, or UpdateSolution where no product follows.
	// UpdateResidual may store M*r in z.
	//
	//	UpdateResidual   r = r - a*q; returns r'r and r'M*r
	//	UpdateDirection  x = x + a*p and p = M*r + b*p
	//	UpdateSolution   x = x + a*p
	//
	// Where UpdateResidual already adds a*p to x, UpdateDirection and UpdateSolution do not.
	UpdateResidual(a float64, p, q, x, r, z Vector) (rr, rz float64)
	UpdateDirection(a, b float64, r, z, p, x Vector)
	UpdateSolution(a float64, p, x Vector)

	Product(a float64, x Vector, b float64, y Vector)    // y = a*A*x + b*y
	Transposed(a float64, x Vector, b float64, y Vector) // y = a*A'*x + b*y
	MultiplyAll(a float64, x, y []Vector)                // y[j] = a*A*x[j], for different x and y
	Preconditioned(r, z Vector) Vector                   // stores z = M*r and returns z; without a preconditioner returns r

	// Failed returns the first error, once all processes know that one has failed.
	Failed() error
	// Ended returns the error of the context if it has ended.
	Ended() error
	// Timings returns the time of the products and of the preconditioner, and the number of products.
	Timings() (products, precond time.Duration, count int)
	// Read copies the elements of v that this process has to dst.
	Read(v Vector, dst []float64)
	// Fetch copies x back to the slice that Load got.
	Fetch() error
	// Free frees the memory of the vectors, also after an error.
	Free() error
}

// operator is solver.Operator.
type operator = msrep.Operator[float64]

// preconditioner is solver.Preconditioner.
type preconditioner interface {
	Size() int
	Apply(r, z []float64) error
}

// diagonal is a preconditioner that multiplies by the elements of a vector. Spaces fuse it with other operations, or
// store the vector on devices.
type diagonal interface{ Diagonal() []float64 }

// onVectors is a preconditioner that can run on vectors on devices, such as factor.Triangles.
type onVectors interface {
	ApplyVector(ctx context.Context, r, z *msrep.Vector[float64]) error
}

// onWorkersOf is a preconditioner that can run on the workers of an operator.
type onWorkersOf interface {
	ApplyOn(operator any, r, z []float64) error
}

// collective is a preconditioner over processes that exchange messages in Apply if Collective returns true. All of them
// call Apply, also after an error and with nil vectors, as they call Distributed.SpMV.
type collective interface{ Collective() bool }

// Vector is the number of a vector of a space.
type Vector int

// None is no vector.
const None Vector = -1
