package number

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Int reads all of b as a decimal int64 with an optional sign. The error is
// ErrSyntax or ErrRange.
func Int(b []byte) (int64, error) {
	v, n := ScanInt(b)
	switch {
	case n == 0 && isInt(b):
		return 0, ErrRange
	case n == 0 || n != len(b):
		return 0, ErrSyntax
	}
	return v, nil
}

// ScanInt reads the decimal int64 that b begins with, sign included, and says
// how many bytes it took: 0 where there is none or it does not fit. What
// follows the last digit is not looked at.
func ScanInt(b []byte) (v int64, n int) {
	if len(b) >= 8 {
		if v, d := ScanWord(binary.LittleEndian.Uint64(b)); d&7 > 0 {
			return int64(v), d
		}
	}
	return scanInt(b)
}

// ScanWord reads the number that word, 8 bytes of text with the first one lowest, begins with,
// and says how many digits it has. Where n is 0 there is none, and v means nothing; where n is 8
// it may go on behind the word.
func ScanWord(word uint64) (v uint64, n int) {
	t := word ^ allZeros
	n = bits.TrailingZeros64(notDigits(t)) / 8
	return eight(t << (-8 * n & 63)), n
}

// scanInt is ScanInt for every length, sign and size.
func scanInt(b []byte) (v int64, n int) {
	i, negative := sign(b)
	start := i
	var u uint64
	for ; i < len(b); i++ {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		if u > (math.MaxInt64+1)/10 {
			return 0, 0
		}
		u = u*10 + uint64(d)
	}
	switch {
	case i == start:
		return 0, 0
	case negative && u <= math.MaxInt64+1:
		return -int64(u), i
	case !negative && u <= math.MaxInt64:
		return int64(u), i
	}
	return 0, 0
}

// isInt reports whether b is digits only, after an optional sign.
func isInt(b []byte) bool {
	i, _ := sign(b)
	rest := b[i:]
	return len(rest) > 0 && countDigits(rest) == len(rest)
}

// sign says where the digits begin and whether a minus stands before them.
func sign(b []byte) (at int, negative bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return 1, b[0] == '-'
	}
	return 0, false
}

func countDigits(b []byte) (n int) {
	for n < len(b) && b[n]-'0' < 10 {
		n++
	}
	return n
}

// digits counts the digits before the first other byte of word, whose lowest
// byte comes first.
//
// A digit xor '0' is at most 9, so adding 0x76 leaves its high bit clear; any
// other byte sets it. A carry can only spoil bytes after the first non-digit.
func digits(word uint64) int { return bits.TrailingZeros64(notDigits(word^allZeros)) / 8 }

// allZeros is the text 00000000.
const allZeros = 0x3030303030303030

// notDigits has the highest bit of each byte of t that is above 9, up to the first one
// above 0x7f.
func notDigits(t uint64) uint64 {
	const high = 0x8080808080808080
	return (t + 0x7676767676767676 | t) & high
}

// leading is the number made of the first n digits of word, n <= 8.
func leading(word uint64, n int) uint64 {
	// Shifting the digits up fills the places before them with zeros.
	return eight((word ^ allZeros) << (64 - 8*n))
}

// eight is the number made of 8 digit values, the lowest byte first: pairs,
// then fours, then all, each with one multiplication.
func eight(t uint64) uint64 {
	const pairs = 0x000000ff000000ff
	t = t*10 + t>>8
	return ((t&pairs)*(100+1000000<<32) + (t>>16&pairs)*(1+10000<<32)) >> 32
}
