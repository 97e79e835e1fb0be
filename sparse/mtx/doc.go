// Package mtx reads and writes Matrix Market files.
//
// A file begins with the line
//
//	%%MatrixMarket OBJECT FORMAT FIELD SYMMETRY
//
// in any case, with one or two % and, if need be, a byte order mark and white space before it,
// where
//
//	OBJECT    matrix or vector: a vector is a matrix of one column, whose sizes and entries may
//	          leave out the column, as the banner may the symmetry
//	FORMAT    coordinate: one line "row column value" per entry, any order
//	          array: one value per line, column after column, zeros included
//	FIELD     real (or double), integer (or unsigned-integer, as SciPy writes it), or
//	          pattern (coordinate only; no values, each is 1)
//	SYMMETRY  general, symmetric, or skew-symmetric (not for pattern)
//
// then a line "rows columns entries" (array: "rows columns"), then the entries.
// Indices start at 1. Comments begin with % and may stand anywhere after the
// first line, as may blank lines; numbers are separated by any white space.
// Exponents may be written as Fortran does, 1.5D+3. A value is the nearest float64 of
// the number that is written, an infinity beyond their range; integers may be of any length.
//
// Entries at the same place add up, also those of a pattern. A symmetric file
// gives one of a[i][j] and a[j][i]: the format wants that below the diagonal, the
// other one is taken as well. The matrix that is read holds both. If a file gives
// both, each of the two becomes the sum, as in SciPy, since they are one entry.
// Complex and hermitian files are refused.
//
// Reading is parallel and streaming. It needs 16 bytes per entry of the file (8
// for a pattern) beside the matrix.
package mtx
