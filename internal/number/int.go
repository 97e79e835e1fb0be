package number

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Int parses all of b as a decimal int64 with an optional sign. The error is ErrSyntax or
// ErrRange.
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

// ScanInt parses the decimal int64 at the start of b, sign included. n is its length in
// bytes, or 0 if there is no number or it does not fit. The bytes after the last digit
// are not checked.
func ScanInt(b []byte) (v int64, n int) {
	if len(b) >= 8 {
		if v, d := ScanWord(binary.LittleEndian.Uint64(b)); d&7 > 0 {
			return int64(v), d
		}
	}
	return scanInt(b)
}

// ScanWord parses the digits at the start of word, which is 8 bytes of text, the first in
// the lowest byte. n is the number of digits. If n is 0, v has no meaning; if n is 8, the
// number may continue after the word.
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

// isInt reports whether b is an optional sign and digits.
func isInt(b []byte) bool {
	i, _ := sign(b)
	rest := b[i:]
	return len(rest) > 0 && countDigits(rest) == len(rest)
}

// sign returns the index of the first digit and whether a minus precedes it.
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

// digits returns the number of digits at the start of word, whose lowest byte is the first.
//
// A digit xor '0' is at most 9, so adding 0x76 leaves its high bit clear; any other byte
// sets it. A carry changes only bytes after the first non-digit.
func digits(word uint64) int { return bits.TrailingZeros64(notDigits(word^allZeros)) / 8 }

// allZeros is the text 00000000.
const allZeros = 0x3030303030303030

// notDigits sets the highest bit of each byte of t that is above 9, up to and including
// the first byte above 0x7f. Bits after that byte are not reliable.
func notDigits(t uint64) uint64 {
	const high = 0x8080808080808080
	return (t + 0x7676767676767676 | t) & high
}

// leading returns the number in the first n digits of word, n <= 8.
func leading(word uint64, n int) uint64 {
	// Shifting the digits up puts zeros before them.
	return eight((word ^ allZeros) << (64 - 8*n))
}

// eight returns the number of 8 digit values, the first in the lowest byte. It combines
// pairs, then fours, then all, with one multiplication each.
func eight(t uint64) uint64 {
	const pairs = 0x000000ff000000ff
	t = t*10 + t>>8
	return ((t&pairs)*(100+1000000<<32) + (t>>16&pairs)*(1+10000<<32)) >> 32
}
