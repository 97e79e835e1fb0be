// Package number reads decimal numbers from text without making strings, and writes those of output files.
//
// It knows plain decimal notation only: an optional sign, digits with at most
// one point, an optional exponent (1.5E+3, or 1.5D+3 as Fortran writes it), and
// the words nan, inf and infinity in any case. Hexadecimal floats, digit
// separators, and anything else that Go source allows are refused, because no
// matrix file format has them.
//
// Results are the float64 nearest to the written number, ties to even: the
// same bits as strconv.ParseFloat gives. Most numbers in files have at most 19
// digits and a small exponent; for these the package finds the result with one
// or two machine instructions on integers or floats. All others go to strconv.
//
// Scan functions read the number that a text begins with and say where it ends;
// Int and Float read a whole text.
package number
