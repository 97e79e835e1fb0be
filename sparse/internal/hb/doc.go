// Package hb reads and writes sparse matrices in the Harwell-Boeing and Rutherford-Boeing
// formats: Fortran text with fields of fixed width, compressed by column.
//
// A file holds four header lines (a fifth in Harwell-Boeing files with right-hand sides),
// then n+1 column pointers, nnz row indices, both 1-based, and nnz values:
//
//	title (72 columns), key (8)
//	lines in all, of pointers, of indices, of values (Harwell-Boeing: of right-hand sides)
//	type, rows, columns, entries, elemental entries
//	Fortran formats of pointers, indices, values (Harwell-Boeing: of right-hand sides)
//
// The type has three letters, in upper or lower case:
//
//	1  R real, I integer, P pattern (no values; all are 1)
//	2  U unsymmetric, R rectangular, S symmetric, Z skew-symmetric
//	3  A assembled
//
// Complex, Hermitian and elemental matrices, matrices with values in another file (Q),
// and auxiliary files of right-hand sides are refused.
//
// # Numbers
//
// Fields have the widths of the stated format, so adjacent numbers need no separator.
// Within a field the rules of Fortran input hold: blanks are ignored; an exponent may
// begin with D, or with only its sign (1.234-101); without a point the last d digits of
// Fw.d and Ew.d are decimals; without an exponent a scale factor kP divides by 10^k.
// Lines may end before the full width.
//
// The package is stricter than Fortran in one respect: a blank field where a number is
// expected, and text where none is expected, are errors, because they indicate a damaged
// file. The line counts of the header are not used: the formats and the number of entries
// determine them.
//
// # Symmetry
//
// Symmetric and skew-symmetric files store one triangle. The format defines it as the
// lower one; the upper one is accepted too, but not a mixture. The mirrored entry of (i,
// j) gets the same value, or the negated value if the matrix is skew-symmetric. A
// skew-symmetric pattern becomes 1 in the stored triangle and -1 in the other.
//
// # Speed and memory
//
// All processors parse chunks of lines while the next chunk is read. The result takes 12
// bytes per entry, and the stored entries take 16 more while the file is read.
package hb
