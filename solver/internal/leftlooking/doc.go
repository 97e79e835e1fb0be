// Package leftlooking factors sparse square matrices that are not symmetric and fill in
// little, such as those of circuits, and serves as the last resort for all others: with the
// tolerance 1 it is Gaussian elimination with partial pivoting.
//
// Analyze permutes the matrix to block upper triangular form and orders each diagonal
// block. Symbolic.Factor computes
//
//	P R A C Q = L U + F
//
// where P and Q are permutations, R and C are diagonal, L and U are block diagonal, and F
// has the entries above the diagonal blocks. L has ones on its diagonal. R and C have powers
// of two, so that scaling does not round.
//
// The columns of a block are factored one after the other (Gilbert and Peierls, Sparse
// partial pivoting in time proportional to arithmetic operations, SIAM J. Sci. Stat.
// Comput. 9 (1988) 862-874): column j of L and U is the solution of a triangular system
// with the columns before it, whose pattern a depth-first search finds. The search is
// shortened by symmetric pruning (Eisenstat and Liu, SIAM J. Sci. Comput. 14 (1993)
// 253-257). Consecutive columns of L with the same pattern form a run, which the search
// visits as one node and which updates a column at once (Demmel, Eisenstat, Gilbert, Li
// and Liu, A supernodal approach to sparse partial pivoting, SIAM J. Matrix Anal. Appl. 20
// (1999) 720-755). Blocks, orders and pivots follow Davis and Palamadai Natarajan,
// Algorithm 907: KLU, ACM Trans. Math. Softw. 37 (2010) 36.
//
// Blocks are independent of each other, so the result has the same bits for any number of
// goroutines.
package leftlooking
