// Package number parses decimal numbers from text without allocating strings, and formats
// the numbers of output files.
//
// It accepts only plain decimal notation: an optional sign, digits with at most one
// point, an optional exponent (1.5E+3, or 1.5D+3 as in Fortran), and the words nan, inf
// and infinity in upper or lower case. It refuses hexadecimal floats, digit separators
// and other Go notation, because no matrix file format has them.
//
// A result is the float64 nearest to the written number, ties to even: the same bits as
// from strconv.ParseFloat. Most numbers in files have at most 19 digits and a small
// exponent; package number computes these with a few integer or float instructions and
// passes all others to strconv.
//
// Scan functions parse the number at the start of a text and return its length; Int and
// Float parse a whole text.
package number
