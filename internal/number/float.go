package number

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unsafe"
)

// The errors for a text that is not a number in range.
var (
	ErrSyntax = errors.New("not a decimal number")
	ErrRange  = errors.New("number out of range")
)

// maxDigits is the largest number of digits that always fits into a uint64.
const maxDigits = 19

// Float parses all of b as a float64. The exponent may lack its letter (1.5-300), as
// Fortran writes exponents of three digits. The error is ErrSyntax, or ErrRange if the
// number is too large. Numbers that are too small become 0.
func Float(b []byte) (float64, error) {
	if v, n := scanFloat(b, true); n == len(b) && n > 0 {
		return v, nil
	}
	return slow(withE(b, true))
}

// ScanFloat parses the float64 at the start of b. n is its length in bytes, or 0 if there
// is no number or it is out of range. White space or the end of b must follow the number.
// Exponents begin with E or, as in Fortran, D, in upper or lower case.
//
// ScanFloat itself handles numbers of at most 19 digits with fewer than 8 of them before
// the point, if b has 32 bytes; scanRare handles all others. Few branches depend on the
// digits: a number is found in its first 8 bytes, and only longer numbers need more.
func ScanFloat(b []byte) (v float64, n int) {
	if len(b) < 32 {
		return scanRare(b)
	}
	minus := 0
	if b[0] == '-' {
		minus = 1
	}
	t := binary.LittleEndian.Uint64(b[minus:]) ^ allZeros
	stop := notDigits(t)
	i := bits.TrailingZeros64(stop) / 8 // digits before the point or the end
	point := 0
	if byte(t>>(8*i&63)) == '.'^'0' {
		point = 1
	}
	var m uint64
	var count int
	if stop &= stop - uint64(point); stop != 0 { // the number ends in these 8 bytes: remove the point between its digits
		end := bits.TrailingZeros64(stop) / 8
		count = end - point
		before := uint64(1)<<(8*i&63) - 1
		m = eight((t&before | t>>8&^before) << (-8 * count & 63))
		n = minus + end
	} else if i == 8 {
		return scanRare(b)
	} else {
		first := minus + i + 1
		m, n = scanDigits(b, first, eight(t<<(64-8*i)))
		count = i + n - first
	}
	exp := i - count
	if count == 0 || count > maxDigits || n == len(b) {
		return scanRare(b)
	}
	if c := b[n]; !space(c) {
		if c|0x20 != 'e' {
			return scanRare(b)
		}
		e, d := scanExponent(b[n+1:])
		n += 1 + d
		if d == 0 || n < len(b) && !space(b[n]) {
			return scanRare(b)
		}
		exp += e
	}
	if m < 1<<53 && uint(-exp) < uint(len(exact)) {
		v = float64(m) / exact[-exp] // both are exact: see scale
	} else {
		var ok bool
		if v, ok = scale(m, exp); !ok {
			return scanRare(b)
		}
	}
	return math.Float64frombits(math.Float64bits(v) | uint64(minus)<<63), n
}

// scanRare is ScanFloat for every number.
func scanRare(b []byte) (v float64, n int) {
	if v, n = scanFloat(b, false); n > 0 {
		return v, n
	}
	for n < len(b) && !space(b[n]) {
		n++
	}
	v, err := slow(withE(b[:n], false))
	if err != nil {
		return 0, 0
	}
	return v, n
}

// scanFloat is ScanFloat for numbers of at most 19 digits with a small exponent. If noLetter
// is set, the exponent may lack its letter. For other text n is 0.
func scanFloat(b []byte, noLetter bool) (v float64, n int) {
	i, negative := sign(b)
	// m is the integer digits followed by the digits after the point, as one integer.
	start := i
	m, i := scanDigits(b, i, 0)
	count, exp := i-start, 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		m, i = scanDigits(b, i, m)
		exp = point - i
		count += i - point
	}
	if count > maxDigits {
		count -= leadingZeros(b[start:i])
	}
	if count == 0 || count > maxDigits {
		return 0, 0
	}
	if i < len(b) && !space(b[i]) {
		switch c := b[i]; {
		case c|0x20 == 'e', c|0x20 == 'd':
			i++
		case noLetter && (c == '+' || c == '-'):
		default:
			return 0, 0
		}
		e, d := scanExponent(b[i:])
		i += d
		if d == 0 || i < len(b) && !space(b[i]) {
			return 0, 0
		}
		exp += e
	}
	v, ok := scale(m, exp)
	if !ok {
		return 0, 0
	}
	if negative {
		v = -v
	}
	return v, i
}

// scanDigits appends the digits at b[i:] to m and returns the index after them. m
// overflows after maxDigits digits.
func scanDigits(b []byte, i int, m uint64) (uint64, int) {
	for len(b)-i >= 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		n := digits(word)
		if n == 0 {
			return m, i
		}
		m = m*pow10[n] + leading(word, n)
		i += n
		if n < 8 {
			return m, i
		}
	}
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		m = m*10 + uint64(b[i]-'0')
	}
	return m, i
}

// scanExponent parses a signed exponent. n is its length in bytes, or 0 if there is none.
// The value stops growing after 5 digits, which are far out of range.
func scanExponent(b []byte) (e, n int) {
	n, negative := sign(b)
	d := countDigits(b[n:])
	if d == 0 {
		return 0, 0
	}
	for _, c := range b[n : n+d] {
		if e < 10000 {
			e = e*10 + int(c-'0')
		}
	}
	if negative {
		e = -e
	}
	return e, n + d
}

// leadingZeros counts the zeros before the first nonzero digit of b, which holds digits
// and a point.
func leadingZeros(b []byte) (n int) {
	for _, c := range b {
		switch c {
		case '0':
			n++
		case '.':
		default:
			return n
		}
	}
	return n
}

// slow parses all of b with strconv.
func slow(b []byte) (float64, error) {
	at, negative := sign(b)
	if v, ok := word(b[at:]); ok {
		if negative {
			v = -v
		}
		return v, nil
	}
	if !isDecimal(b[at:]) {
		return 0, ErrSyntax
	}
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	if err != nil { // the notation is valid, so the number is out of range
		return 0, ErrRange
	}
	return v, nil
}

// isDecimal reports whether b is an unsigned number in plain decimal notation.
func isDecimal(b []byte) bool {
	i := countDigits(b)
	n := i
	if i < len(b) && b[i] == '.' {
		d := countDigits(b[i+1:])
		n += d
		i += 1 + d
	}
	if n == 0 {
		return false
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		_, d := scanExponent(b[i+1:])
		return d > 0 && i+1+d == len(b)
	}
	return i == len(b)
}

// word returns the value of the words nan, inf and infinity.
func word(b []byte) (v float64, ok bool) {
	const longest = len("infinity")
	if len(b) > longest {
		return 0, false
	}
	var lower [longest]byte
	for i, c := range b {
		lower[i] = c | 0x20
	}
	switch string(lower[:len(b)]) {
	case "nan":
		return math.NaN(), true
	case "inf", "infinity":
		return math.Inf(1), true
	}
	return 0, false
}

// withE returns b with the letter e before its exponent: in place of d or, if noLetter is
// set, before a sign without a letter. It returns b itself if its exponent has an e, or
// if it has no exponent.
func withE(b []byte, noLetter bool) []byte {
	for i, c := range b {
		switch {
		case c|0x20 == 'e':
			return b
		case c|0x20 == 'd':
			t := slices.Clone(b)
			t[i] = 'e'
			return t
		case noLetter && (c == '+' || c == '-') && i > 0:
			return slices.Concat(b[:i], []byte("e"), b[i:])
		}
	}
	return b
}

// space reports whether c is white space, line ends included.
func space(c byte) bool { return c == ' ' || c-'\t' < 5 }
