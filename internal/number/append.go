package number

import (
	"math"
	"strconv"
)

// Append appends v to b like strconv.AppendFloat, but writes inf for +Inf, -inf for -Inf
// and nan for NaN. The mmread of SciPy and of MATLAB, fast_matrix_market and Julia's
// MatrixMarket read these words. SciPy and fast_matrix_market refuse a plus sign before a
// number.
func Append(b []byte, v float64, format byte, precision int) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	return strconv.AppendFloat(b, v, format, precision, 64)
}
