// Package merge combines the results of the parts of a matrix into y.
//
// By row (pCSR, row-sorted pCOO, and their transposed counterparts): a part computes
// consecutive elements of y. Each row has one owner, and only the owner applies beta. A
// part that begins inside a row adds one number to that row, its carry. Rows is for parts
// that wrote their rows directly to y. CopyRows is for parts that return separate
// vectors.
//
//	part 0   y[0] y[1]
//	part 1     carry -> y[1]   y[2] y[3]
//	part 2                       carry -> y[3]   y[4]
//
// By column (pCSC, column-sorted pCOO): every part returns a vector as long as y, and Sum
// adds these vectors.
//
// All functions apply beta once per element. They do not read y if beta = 0, so a NaN
// there does not reach the result. The order of the additions depends only on the parts,
// not on the number of goroutines. Calls with different y may run concurrently.
package merge
