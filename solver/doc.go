// Package solver has iterative methods that do little but multiply a sparse matrix
// by a vector, over the devices of a System.
//
// # Linear systems
//
// CG, BiCGSTAB and GMRES solve A x = b for any Operator, which a *msrep.Plan[float64]
// is, with no preconditioner, Jacobi, BlockJacobi or one of the caller's. Refine solves
// with a cheaper matrix inside, and Power finds the largest eigenvalue. A solve has
// converged when the residual of x itself says so; otherwise it ends with a
// *ConvergenceError, around ErrBreakdown, ErrStagnation or ErrNotConverged.
//
//	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
//	jacobi, err := solver.Jacobi(a)
//	res, err := solver.CG(ctx, plan, b, x, solver.Options{Tol: 1e-10, Precond: jacobi})
//
// x is the first guess and takes the solution; after an error it has the last iterate,
// which need not be finite. b is read only, and both are used during the call only. A plan
// and a preconditioner of this package may serve several solves at once; their products run
// one after the other. Options.Progress is called on the goroutine of the solve. A context
// that ends gives its error after the iteration, or the product, that is under way.
//
// Nil arguments are errors, as in package msrep.
//
// # PageRank
//
// PageRank ranks the nodes of a directed graph by the power method. With O_i the
// number of links from node i, n nodes, damping factor d and s the sum of p_i over
// the nodes without links (dangling nodes):
//
//	p_j = d * (sum over links i -> j of p_i/O_i + s/n) + (1-d)/n
//
// from p = 1/n until the 1-norm of the difference of two iterates is below the
// tolerance. (Line 6 of Algorithm 1 in the CPMS paper, Grützmacher et al., "Acceleration
// of PageRank with Customized Precision based on Mantissa Segmentation", leaves d off the
// dangling term, so that the sum of p is not 1 there; this is the standard form.)
//
// Precision cpms2 and cpms4 make it adaptive (section 4.2 of the paper): ranks and
// weights are read with 32 or 48 bits at first, and with more when the difference
// comes close to what so many bits can show. docs/cpms.md has the rule and what it
// brings.
package solver
