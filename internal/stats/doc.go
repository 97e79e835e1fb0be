// Package stats describes the structure of a sparse matrix: the lengths of its rows, empty
// rows and columns, bandwidth, the exponent of a power law that is fitted to the lengths of
// its columns, and the cost of the matrix in each storage format.
//
// Only positions matter. A stored zero is an entry, and entries at the same position
// count separately.
//
// All results are computed from integer sums, so they do not depend on the number of
// goroutines.
package stats
