package number

import (
	"bytes"
	"math"
	"strconv"
)

// ScanBeyond reads the number that b begins with where ScanFloat does not because it is too large for a float64: it is an
// infinity then. n is 0 for all else.
func ScanBeyond(b []byte) (v float64, n int) {
	for n < len(b) && !space(b[n]) {
		n++
	}
	if _, err := slow(withE(b[:n], false)); err != ErrRange {
		return 0, 0
	}
	return infinity(b), n
}

// ScanWhole reads the whole number of any length that b begins with, sign included, and says how many bytes it took, 0
// where there is none. v is the nearest float64, which is infinite beyond their range; exact says that it is the number.
// What follows the last digit is not looked at.
func ScanWhole(b []byte) (v float64, n int, exact bool) {
	at, negative := sign(b)
	d := countDigits(b[at:])
	if d == 0 {
		return 0, 0, false
	}
	text := bytes.TrimLeft(b[at:at+d], "0")
	if u, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		v = float64(u)
		exact = v < 1<<64 && uint64(v) == u
	} else if len(text) == 0 {
		exact = true
	} else if v, err = strconv.ParseFloat(string(text), 64); err == nil {
		exact = string(strconv.AppendFloat(nil, v, 'f', 0, 64)) == string(text)
	}
	if negative && v != 0 { // a whole number has no -0
		v = -v
	}
	return v, at + d, exact
}

// infinity has the sign of the number that b begins with.
func infinity(b []byte) float64 {
	if _, negative := sign(b); negative {
		return math.Inf(-1)
	}
	return math.Inf(1)
}
