package number

import (
	"bytes"
	"math"
	"strconv"
)

// ScanBeyond parses the number at the start of b if it is too large for float64. v is
// then infinite. For other text n is 0.
func ScanBeyond(b []byte) (v float64, n int) {
	for n < len(b) && !space(b[n]) {
		n++
	}
	if _, err := slow(withE(b[:n], false)); err != ErrRange {
		return 0, 0
	}
	return infinity(b), n
}

// ScanWhole parses the whole number of any length at the start of b, sign included. n is
// its length in bytes, or 0 if there is none. v is the nearest float64, or infinite
// beyond the range of float64; exact reports whether v is the number. The bytes after the
// last digit are not checked.
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

// infinity returns the infinity with the sign of the number at the start of b.
func infinity(b []byte) float64 {
	if _, negative := sign(b); negative {
		return math.Inf(-1)
	}
	return math.Inf(1)
}
