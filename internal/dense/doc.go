// Package dense has the dense loops of sparse factorisations: products, triangular solves, and LU and Cholesky
// factorisations of matrices in column-major order. Element (i, j) of an argument a with leading dimension lda is
// a[i+j*lda]; lda is at least the number of rows. A slice may end with the last element. Sizes may be 0.
//
// All functions run on the goroutine of the caller and do not allocate. They do not check arguments: with a slice that is
// too short they panic or, in assembly, access memory after it. Arguments must not overlap, but may be parts of one
// front. A leading dimension that is not a multiple of 4096 bytes is up to 1.5 times as fast with AVX2.
//
// # Order of additions
//
// A product, LU, Cholesky, [LowerUnitSolve], [UpperRightSolve] and [LowerRightTransSolve] update an element as
//
//	c = ((c - a0*b0) - a1*b1) - ...
//
// in ascending order of the inner index. So c has the same bits however a caller splits the work by rows, by columns or by
// the inner index. In [GemmTN] and the other solves the order depends on the length of a sum or the size of the triangle,
// and not on the number of columns of B: these have the same bits for any split by columns.
//
// A step rounds once where it is in assembly (a fused multiply-add), and twice in plain Go. AVX-512 and AVX2 have the same
// bits, except in sums over a column (GemmTN and the solves with a transposed triangle). Plain Go has other bits, the same
// on all processors.
package dense
