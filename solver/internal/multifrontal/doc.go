// Package multifrontal computes complete Cholesky and LU factorisations of sparse matrices on dense fronts.
//
// [Analyze] looks at the pattern only. It finds the elimination tree, joins columns with the same or nearly the same
// structure to supernodes, and lays out the factors. [Analysis.Cholesky] and [Analysis.LU] compute with values: each
// supernode has a front, a dense matrix of its pivots and of the rows that they update. A front adds its entries of the
// matrix and the contributions of its children, eliminates its pivots, and leaves a contribution to its parent (Duff
// and Reid, ACM Trans. Math. Softw. 9 (1983) 302-325; Liu, SIAM Review 34 (1992) 82-109).
//
// Subtrees run on several goroutines, and so do the parts of a large front. A front adds its children in a fixed order
// and the loops of package dense have the same bits for any split, so the number of goroutines changes no bit of the
// factors.
//
// A matrix given here is valid and square, and its rows are sorted and have no duplicates.
package multifrontal
