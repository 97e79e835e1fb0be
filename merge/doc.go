// Package merge puts the results of the parts of a split matrix together into y.
//
// Row-wise (pCSR, row-sorted pCOO, and their like for transposed products): a
// part produces a stretch of y. Each row has one owner, which alone applies beta;
// a part that begins inside a row adds one number to it, its carry. Rows is for
// parts that wrote their rows straight into y, CopyRows for parts that return
// vectors of their own.
//
//	part 0   y[0] y[1]
//	part 1     carry -> y[1]   y[2] y[3]
//	part 2                       carry -> y[3]   y[4]
//
// Column-wise (pCSC, column-sorted pCOO): every part produces a vector as long as
// y, and Sum adds them up.
//
// In all of them beta is applied once per element, beta = 0 never reads y, so that
// a NaN there vanishes, and the order of the additions depends on the parts alone,
// not on the number of goroutines. Calls with different y may run at the same time.
package merge
