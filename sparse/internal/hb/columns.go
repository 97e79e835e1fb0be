package hb

import (
	"fmt"
	"math"
	"strconv"

	"github.com/msrep-go/msrep/internal/par"
)

// numberColumns is the layout of numbers in a written file. The zero value is the layout
// of a file without values.
type numberColumns struct {
	perLine, width int
	decimals       int // digits of a real number after the point
	format         string
}

// lines returns the number of lines that n numbers take.
func (c numberColumns) lines(n int64) int64 {
	if c.perLine == 0 {
		return 0
	}
	per := int64(c.perLine)
	return n/per + (n%per+per-1)/per
}

// intColumns returns the layout of integers from 1 to most, separated by blanks.
func intColumns(most int64) numberColumns {
	return integerFormat(len(strconv.FormatInt(most, 10)) + 1)
}

// wholeColumns returns the layout of integer values.
func wholeColumns(val []float64) numberColumns {
	return integerFormat(1 + widest(val, func(b []byte, v float64) int {
		return len(strconv.AppendInt(b, int64(v), 10))
	}))
}

func integerFormat(width int) numberColumns {
	per := max(lineWidth/width, 1)
	return numberColumns{perLine: per, width: width, format: fmt.Sprintf("(%dI%d)", per, width)}
}

// realColumns returns the layout of real values, with the digits that the longest of them
// needs. The format is Ew.d without the scale factor 1P, which some readers do not know.
// On input the scale factor has no effect on a number with a point and an exponent.
func realColumns(val []float64) numberColumns {
	digits := widest(val, func(b []byte, v float64) int {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		b = strconv.AppendFloat(b, math.Abs(v), 'E', -1, 64)
		n := 0
		for n < len(b) && b[n] != 'E' {
			n++
		}
		n-- // without the point; 0 for a single digit
		if !sixteenDigitsSuffice(v) {
			n = 17
		}
		return n
	})
	decimals := max(digits-1, 1)
	width := 1 + len("-d.E+ddd") + decimals
	per := lineWidth / width
	return numberColumns{perLine: per, width: width, decimals: decimals, format: fmt.Sprintf("(%dE%d.%d)", per, width, decimals)}
}

// sixteenDigitsSuffice reports whether v can be read back from its nearest decimal of 16
// digits, if it can be from any decimal of 16 digits. It may be false for a power of 2,
// because the floats below it are closer than those above.
func sixteenDigitsSuffice(v float64) bool {
	if frac, _ := math.Frexp(v); math.Abs(frac) != 0.5 {
		return true
	}
	back, err := strconv.ParseFloat(strconv.FormatFloat(v, 'E', 15, 64), 64)
	return err == nil && back == v
}

// widest returns the largest of all lengths, or 1 if there are no values. length may
// append to b.
func widest(val []float64, length func(b []byte, v float64) int) int {
	const grain = 1 << 14
	parts := par.Workers(int64(len(val)), grain)
	most := make([]int, parts)
	par.Do(parts, func(p int) {
		buf := make([]byte, 0, 400)
		n := 1
		for _, v := range val[par.Cut(int64(len(val)), parts, p):par.Cut(int64(len(val)), parts, p+1)] {
			n = max(n, length(buf[:0], v))
		}
		most[p] = n
	})
	n := 1
	for _, k := range most {
		n = max(n, k)
	}
	return n
}
