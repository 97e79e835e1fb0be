// Package hb reads and writes sparse matrices in the Harwell-Boeing and
// Rutherford-Boeing formats: Fortran text of fixed width, columns compressed.
//
// A file holds four header lines (a fifth in Harwell-Boeing files with right-hand
// sides), then n+1 column pointers, nnz row indices, both 1-based, and nnz values:
//
//	title (72 columns), key (8)
//	lines in all, of pointers, of indices, of values (Harwell-Boeing: of right-hand sides)
//	type, rows, columns, entries, elemental entries
//	Fortran formats of pointers, indices, values (Harwell-Boeing: of right-hand sides)
//
// The three letters of the type, in either case, say what is stored:
//
//	1  R real, I integer, P pattern (no values; all are 1)
//	2  U unsymmetric, R rectangular, S symmetric, Z skew-symmetric
//	3  A assembled
//
// Complex, Hermitian and elemental matrices, matrices with values in another
// file (Q), and auxiliary files of right-hand sides are refused.
//
// # Numbers
//
// Fields are cut by the width that the format states, so that numbers may touch
// each other. Within a field the rules of Fortran input hold: blanks mean
// nothing; an exponent may begin with D, or with its sign alone (1.234-101);
// without a point the last d digits of Fw.d and Ew.d are decimals; without an
// exponent a scale factor kP divides by 10^k. Lines may end before the full width.
//
// In one point the package is stricter than Fortran: a field that is blank
// where a number must stand, and text that stands where nothing must, are
// errors, because they come from damaged files. The line counts of the header
// are not relied on: the formats and the number of entries say the same.
//
// # Symmetry
//
// Symmetric and skew-symmetric files store one triangle, the lower one by the
// definition of the format; an upper one is read too, a mixture is not. The
// twin of entry (i, j) gets the same value, or the negative one if the matrix is
// skew-symmetric. That holds for patterns too: a skew-symmetric pattern becomes
// 1 in the stored triangle and -1 in the other.
//
// # Speed and memory
//
// Text is parsed by all processors in blocks of lines while the next block is
// read. Besides the result, 12 bytes an entry, the stored entries take 16.
package hb
