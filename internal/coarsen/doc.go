// Package coarsen computes the prolongator to a matrix from its next coarser level, for smoothed-aggregation multigrid.
//
// The unknowns of A are grouped into nodes, and strongly coupled nodes into aggregates. The columns of the tentative
// prolongator T are an orthonormal basis of the near null space in each aggregate. A damped Jacobi step smooths T:
//
//	P = (I - omega/rho D_F^-1 A_F) T,   omega = 4/3
//
// A_F is A without its weak entries, which are added to its diagonal D_F. rho bounds the eigenvalues of D^-1 A. The caller
// computes the coarse matrix R A P; R is P', or for an unsymmetric A the transpose of a prolongator for A'. Results have the
// same bits for any number of goroutines.
//
// Source: P. Vanek, J. Mandel, M. Brezina, "Algebraic multigrid by smoothed aggregation for second and fourth order
// elliptic problems", Computing 56 (1996).
package coarsen
