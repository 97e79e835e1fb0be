// Package stats describes the structure of a sparse matrix: the lengths of its
// rows, empty rows and columns, bandwidth, the exponent of a power law over its
// columns, and what the matrix would cost in each storage format.
//
// Only positions count. A stored zero is an entry, and entries at the same
// position count one by one.
//
// Every figure comes from integer sums, so that it does not depend on the
// number of goroutines.
package stats
