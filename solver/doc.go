// Package solver solves linear systems. Solve takes any matrix and chooses how to solve A x = b. The iterative methods use
// a matrix only through products with vectors, over the devices of a msrep.System.
//
// # Linear systems
//
// These methods solve A x = b, where A is an Operator, for example a *msrep.Plan[float64]:
//
//	CG                A is symmetric and positive definite
//	MINRES            A is symmetric
//	BiCGSTAB, IDR     A is any square matrix; the number of vectors is fixed
//	GMRES, FGMRES     A is any square matrix; a vector, or two, for each iteration
//	LSMR              A is any matrix, also rectangular; least squares solutions
//	Richardson        refinement with a preconditioner that is almost the inverse of A
//	Refine            refinement with products by a cheaper matrix
//
// The preconditioner is none, Jacobi, BlockJacobi, ColumnScaling (for LSMR), one of package amg (multigrid) or
// factor (incomplete factors), or the caller's own; FGMRES also takes one that changes. Power finds the largest
// eigenvalue. A solve has converged when the residual computed from x itself is within the tolerance, or, by LSMR,
// when x is a least squares solution. Otherwise it ends with a *ConvergenceError, which wraps ErrBreakdown,
// ErrStagnation, ErrNotConverged or ErrInconsistent.
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
package solver
