package hb

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/msrep-go/msrep/internal/number"
)

// trim removes the blanks of a field, which Fortran ignores anywhere. It copies only
// fields with blanks between other characters.
func trim(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	for _, c := range b {
		if blank(c) {
			return bytes.Join(bytes.Fields(b), nil)
		}
	}
	return b
}

// parseValue is parseReal for integers too. Values beyond the range of float64 become
// infinite. rounded reports that a whole number may lie between two floats, and v is then
// the nearer one.
func parseValue(b []byte, f *field) (v float64, rounded bool, err error) {
	if f.kind == 'I' {
		if v, n := number.ScanInt(b); n == len(b) && n > 0 && n <= len("999999999999999") { // 15 digits are below 2^53
			return float64(v), false, nil
		}
		v, n, exact := number.ScanWhole(b)
		if n < len(b) || n == 0 {
			err = number.ErrSyntax
		}
		return v, !exact, err
	}
	if v, err = parseReal(b, f); errors.Is(err, number.ErrRange) {
		v, err = math.Inf(1), nil
		if b[0] == '-' {
			v = -v
		}
	}
	return v, math.Abs(v) > 1<<53, err
}

// parseReal parses a trimmed field of a real format (not I). If there is no point, the
// format states the number of decimals; if there is no exponent, it applies the scale
// factor.
func parseReal(b []byte, f *field) (float64, error) {
	if f.scale == 0 && (f.decimals == 0 || bytes.IndexByte(b, '.') >= 0) {
		return number.Float(b)
	}
	mantissa, exponent, given := splitExponent(b)
	shift := int64(0)
	if !given {
		shift = -int64(f.scale)
	}
	if bytes.IndexByte(mantissa, '.') < 0 {
		shift -= int64(f.decimals)
	}
	if shift == 0 || !hasDigit(mantissa) { // nan and inf have no digit
		return number.Float(b)
	}
	if given {
		e, err := number.Int(exponent)
		if err != nil {
			return 0, err
		}
		shift += min(max(e, math.MinInt32), math.MaxInt32) // limits that no float reaches
	}
	t := append(make([]byte, 0, 64), mantissa...)
	return number.Float(strconv.AppendInt(append(t, 'e'), shift, 10))
}

// splitExponent splits a number before the sign and digits of its exponent and drops the
// letter between them. given is false if there is no exponent.
func splitExponent(b []byte) (mantissa, exponent []byte, given bool) {
	for i, c := range b {
		switch {
		case c|0x20 == 'e' || c|0x20 == 'd':
			return b[:i], b[i+1:], true
		case (c == '+' || c == '-') && i > 0:
			return b[:i], b[i:], true
		}
	}
	return b, nil, false
}

func hasDigit(b []byte) bool { return bytes.ContainsAny(b, "0123456789") }

func blank(c byte) bool { return c == ' ' || c == '\t' }
