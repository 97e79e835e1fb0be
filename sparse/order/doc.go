// Package order computes what a sparse factorisation needs to know of a matrix before it
// begins: orders that keep factors sparse, a matching that puts large entries on the
// diagonal, and the blocks of a matrix that can be factored one by one.
//
//	AMD              fill-reducing order of rows and columns together, for Cholesky and LU with pivots on the diagonal
//	Dissection       the same by nested dissection: slower, better for large meshes in three dimensions
//	ColumnAMD        fill-reducing order of the columns, for LU with row exchanges
//	RCM              order with a small bandwidth
//	Spread           order that gives several parts as many rows and entries of each length
//	Match            rows on the diagonal with the largest product of magnitudes, and scaling
//	Partition        order by parts that exchange little in a product; Halo counts what they exchange
//	BlockTriangular  block upper triangular form
//	Deficient        rows and columns that make a matrix structurally singular
//	Symmetry         how much of a matrix is symmetric
//
// A permutation p is a []int32 with p[new] = old, so sparse.Permute(a, p, q) is the matrix
// in the new order.
//
// All functions are deterministic. Rows need not be sorted and may have duplicates. No
// function changes its arguments. Except where a comment says otherwise, an entry counts
// even if its value is zero.
package order
