// Package amg has an algebraic multigrid (AMG) preconditioner: smoothed aggregation with polynomial smoothers. The number
// of iterations hardly grows as a mesh gets finer; with Jacobi it does.
//
//	m, err := amg.New(ctx, sys, a, amg.Options{})
//	defer m.Close()
//	res, err := solver.CG(ctx, plan, b, x, solver.Options{Precond: m})
//
// # The hierarchy
//
// Level 0 is A. Each further level is coarser. Its matrix is R A P, where A is the matrix of the level before it, the
// prolongator P maps vectors from the coarse level to that level, and the restriction R maps them back (Vanek, Mandel and
// Brezina, Computing 56 (1996) 179-196). R is P', or for an unsymmetric A the transpose of a prolongator for A'. P
// reproduces the near null space (Options.NearNull; by default the constant vectors). Coarsening ends at a level with at
// most Options.CoarseSize rows, or where the next level would have almost as many.
//
// M r is one cycle for A z = r that begins with z = 0:
//
//	smooth     z = p(D^-1 A) D^-1 r
//	correct    z = z + P C R (r - A z), where C is one cycle on the next level or, if that level is cheap, two
//	smooth     z = z + p(D^-1 A) D^-1 (r - A z)
//
// D is the diagonal of A. If A is symmetric, p is a Chebyshev polynomial of the fourth kind (Lottes, 2023), and M is
// symmetric. If A is unsymmetric, each smoother is Options.Degree steps of damped Jacobi, because polynomials may amplify
// errors that belong to complex eigenvalues. A cycle consists of products with plans and vector operations. With degree 2
// a visit to a level takes four products with A, one with P and one with R.
//
// The coarsest level is solved with the inverse of its matrix. If the matrix is singular, as in pure Neumann problems,
// the largest regular submatrix is inverted instead, and the other unknowns of the level are 0. A coarsest level with more
// than Options.CoarseSize rows is smoothed by MaxDegree steps instead.
//
// # Use
//
// CG and MINRES take the preconditioner if A is symmetric with a positive diagonal; GMRES, FGMRES, BiCGSTAB and IDR take
// it for any A. solver.Richardson iterates with it alone, without a Krylov method. For linear elasticity set
// Options.NearNull to RigidBodyModes: with translations only, CG takes about twice as many iterations.
//
// # Precision
//
// In host memory the levels and the vectors of a cycle are float32, and r is scaled so that its largest element is about
// 1. This halves the memory traffic of a cycle; the solve still reaches its tolerance in float64. The number of iterations
// is the same as with Options.Double for a Poisson matrix on a line of 100,000 points (condition number 4e9) and for
// coefficients that jump by 1e8. If iterations stagnate with a far larger condition number, set Options.Double. Levels on
// GPUs are float64.
//
// # Memory and time
//
// The matrices of all levels have 1.2 to 1.9 times the entries of A (OperatorComplexity). Bytes is the memory of these
// matrices, their plans and the vectors: at most about twice that of A in CSR. New takes as long as 150 to 250 products with A
// in CSR on the same cores.
//
// # When it fails
//
// A zero on the diagonal is an error, except on a level that is solved with its inverse. The preconditioner suits
// diffusion, elasticity and similar problems. Convergence is slow, or fails, with strong convection, with indefinite
// matrices (waves), without the right near null space, and with
// large positive entries off the diagonal. For singular matrices of a line of 10,000 points or more (pure Neumann), CG ends
// with the error that the preconditioner is not positive definite; grids work.
package amg
