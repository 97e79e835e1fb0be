// Package eigen finds a few eigenvalues of symmetric matrices and a few singular values of any matrices, with their vectors:
//
//	A v = lambda v                     eigenvalue lambda of a symmetric matrix A
//	A v = sigma u,  A'u = sigma v      singular value sigma >= 0 of any matrix A
//
// where u and v have length 1. Solve and SolveSingular take a matrix and choose; the others take an operator, for example a
// *msrep.Plan[float64], and use it through products with vectors only:
//
//	Solve           eigenvalues of a matrix: the largest, the smallest, the largest magnitudes, or the nearest to a number
//	SolveSingular   singular values of a matrix: the largest or the smallest
//	Symmetric       eigenvalues of an operator, by thick-restart Lanczos
//	LOBPCG          eigenvalues of an operator, with a preconditioner
//	Singular        the largest singular values of an operator, by thick-restart Lanczos bidiagonalisation
//
//	res, err := eigen.Solve(ctx, sys, a, eigen.Options{Count: 10, Which: eigen.Near, Sigma: 0})
//	for i, lambda := range res.Values { ... res.Vectors[i] ... }
//
// # Which method
//
// Lanczos finds eigenvalues at the ends of the spectrum fast where they are far from the others, in relation to the whole
// spectrum. The smallest eigenvalues of a discretised differential equation are not: use Near with a Sigma close to them,
// which takes factors of A - Sigma*I, or LOBPCG with a preconditioner where factors do not fit in memory.
//
// # Guarantees
//
// A result is returned without an error only if its residual, computed from the values and vectors that are returned, is at
// most Options.Tol times the norm of A (Info.Norm). There is then an eigenvalue, or a singular value, at a distance of at
// most the residual. Vectors are orthogonal to each other to about Tol.
//
// That no better value exists cannot be proved by products. Lanczos starts from a random vector, and is almost sure to find
// each eigenvalue at the end of the spectrum, but only one copy of a multiple one for certain. It therefore searches the space
// orthogonal to its results from another random vector, until it finds a missed value or the largest value there has
// converged to one that is not better, and repeats this until nothing is missed (Info.Copies). Options.SkipCheck omits this
// search, which takes about as many products as a few results. LOBPCG finds up to as many copies as its block has vectors.
//
// # Cost
//
// For k results and vectors of n elements, Lanczos stores a basis of 2k+8 or 24 vectors at first, and up to 6k+60 where
// convergence is slow, where memory allows it, but not on devices with their own memory; Options.Basis sets it. An iteration
// takes one product and about 10 n operations, and a part of them (a third to a twelfth, all with factors) 4 m n operations with
// the m vectors of the basis. Singular takes the latter in all iterations, and has two bases, with vectors of both lengths.
// LOBPCG stores 6 blocks of 1.25 k vectors, or k+2. Results take k vectors more. Bases that do not fit in memory are a
// *sparse.InputError before the first product.
//
// Vectors are in host memory, with the operations on them on the workers of the plan, or on the devices of a plan that have
// their own memory (not if the plan is deterministic), or in pieces over several processes (solver.Distributed; not for
// singular values). With Options.Deterministic, Solve and SolveSingular return the same bits on any devices and any number of
// threads of a processor.
//
// # Errors
//
// Wrong arguments and matrices are a *sparse.InputError that names the argument or the entry. A *solver.ConvergenceError
// wraps solver.ErrNotConverged where Options.MaxIter is reached, solver.ErrStagnation where residuals of results are above
// the tolerance, and solver.ErrBreakdown where products show that the operator is not symmetric or not finite; the first two
// come with what was found. An error of ctx, of devices, of factors or of a preconditioner is returned unchanged.
package eigen
