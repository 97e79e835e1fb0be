// Package mtx reads and writes Matrix Market files.
//
// A file begins with the line
//
//	%%MatrixMarket OBJECT FORMAT FIELD SYMMETRY
//
// in upper or lower case, with one or two %. A byte order mark and white space may
// precede it. Here
//
//	OBJECT    matrix or vector: a vector is a matrix of one column, whose sizes and entries may
//	          omit the column; its banner may omit the symmetry
//	FORMAT    coordinate: one line "row column value" per entry, any order
//	          array: one value per line, column after column, zeros included
//	FIELD     real (or double), integer (or unsigned-integer, as SciPy writes it), or
//	          pattern (coordinate only; no values, each is 1)
//	SYMMETRY  general, symmetric, or skew-symmetric (not for pattern)
//
// Then follow a line "rows columns entries" (array: "rows columns") and the entries.
// Indices start at 1. Comments begin with %; comments and blank lines may be anywhere
// after the first line. Any white space separates numbers. Exponents may be written as in
// Fortran, 1.5D+3. A value is the float64 nearest to the written number, or infinite
// beyond the range of float64. Integers may have any length.
//
// Entries with the same position are added, also in a pattern. A symmetric file stores
// one of a[i][j] and a[j][i]. The format requires the one below the diagonal; the other
// one is accepted too. The matrix holds both. If a file stores both, they count as one
// entry, and both get the sum, as in SciPy. Complex and hermitian files are refused.
//
// Several goroutines parse the file while it is read. Besides the matrix, reading takes 16 bytes per entry of the file
// (8 for a pattern).
package mtx
