// Package solver has iterative methods that use a sparse matrix only through products with vectors, over the
// devices of a msrep.System.
//
// # Linear systems
//
// CG, BiCGSTAB and GMRES solve A x = b. A is an Operator, for example a *msrep.Plan[float64]. The
// preconditioner is none, Jacobi, BlockJacobi or the caller's own. Refine solves A x = b with products by a
// cheaper matrix, and Power finds the largest eigenvalue. A solve has converged when the residual computed from
// x itself is within the tolerance. Otherwise it ends with a *ConvergenceError, which wraps ErrBreakdown,
// ErrStagnation or ErrNotConverged.
//
//	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
//	jacobi, err := solver.Jacobi(a)
//	res, err := solver.CG(ctx, plan, b, x, solver.Options{Tol: 1e-10, Precond: jacobi})
//
// x is the first guess, and the method overwrites it with the solution. After an error x holds the last
// iterate, which may not be finite. b is only read. The method uses b and x only during the call. Several
// solves may use one plan and one preconditioner of this package at the same time; the products of a plan run
// one after the other. Options.Progress is called in the goroutine of the solve. When ctx ends, the method
// returns the error of ctx after the current iteration or product.
//
// A nil argument is a *sparse.InputError, as in package msrep.
//
// # PageRank
//
// PageRank ranks the nodes of a directed graph by the power method. Let n be the number of nodes, O_i the
// number of links from node i, d the damping factor, and s the sum of p_i over the nodes without links
// (dangling nodes):
//
//	p_j = d * (sum over links i -> j of p_i/O_i + s/n) + (1-d)/n
//
// The iteration starts from p = 1/n and ends when the 1-norm of the difference of two iterates is below the
// tolerance. (Line 6 of Algorithm 1 in the CPMS paper, Grützmacher et al., "Acceleration of PageRank with
// Customized Precision based on Mantissa Segmentation", omits d in the dangling term, so that the sum of p is
// not 1 there. This package uses the standard formula.)
//
// Precisions cpms2 and cpms4 are adaptive (section 4.2 of the paper): the first iterations read 32 bits of each
// rank and weight, and later ones 48 or 64 bits, when the difference approaches what the bits can resolve.
// docs/cpms.md has the rule and its effect.
package solver
