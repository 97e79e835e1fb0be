package ptx

import (
	"math/bits"
	"unsafe"
)

// Registers hold 64 bits; the unused ones are zero. Functions on registers cut their
// operands to size, because an immediate operand may have more bits.

type integer interface {
	uint16 | uint32 | uint64 | int16 | int32 | int64
}

// put returns v as a register holds it.
func put[T integer](v T) uint64 { return uint64(v) & (^uint64(0) >> (64 - 8*unsafe.Sizeof(v))) }

func add[T integer](a, b uint64) uint64      { return put(T(a) + T(b)) }
func sub[T integer](a, b uint64) uint64      { return put(T(a) - T(b)) }
func mulLo[T integer](a, b uint64) uint64    { return put(T(a) * T(b)) }
func madLo[T integer](a, b, c uint64) uint64 { return put(T(a)*T(b) + T(c)) }
func minInt[T integer](a, b uint64) uint64   { return put(min(T(a), T(b))) }
func maxInt[T integer](a, b uint64) uint64   { return put(max(T(a), T(b))) }
func negInt[T integer](a uint64) uint64      { return put(-T(a)) }

func absInt[T integer](a uint64) uint64 {
	if v := T(a); v < 0 {
		return put(-v)
	}
	return put(T(a))
}

// div returns all ones for a zero divisor, as devices do.
func div[T integer](a, b uint64) uint64 {
	if T(b) == 0 {
		return put(^T(0))
	}
	return put(T(a) / T(b))
}

// rem returns the dividend for a zero divisor.
func rem[T integer](a, b uint64) uint64 {
	if T(b) == 0 {
		return put(T(a))
	}
	return put(T(a) % T(b))
}

// shl and shr limit the amount to the width.
func shl[T integer](a, b uint64) uint64 { return put(T(a) << uint32(b)) }
func shr[T integer](a, b uint64) uint64 { return put(T(a) >> uint32(b)) }

func mulHi16[T uint16 | int16](a, b uint64) uint64 { return put(T(int64(T(a)) * int64(T(b)) >> 16)) }
func mulHiU32(a, b uint64) uint64                  { return uint64(uint32(a)) * uint64(uint32(b)) >> 32 }
func mulHiS32(a, b uint64) uint64                  { return put(int32(int64(int32(a)) * int64(int32(b)) >> 32)) }

func mulHiU64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi
}

func mulHiS64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	if int64(a) < 0 {
		hi -= b
	}
	if int64(b) < 0 {
		hi -= a
	}
	return hi
}

// mulWide multiplies two T to a W, which is twice as wide.
func mulWide[W, T integer](a, b uint64) uint64    { return put(W(T(a)) * W(T(b))) }
func madWide[W, T integer](a, b, c uint64) uint64 { return put(W(T(a))*W(T(b)) + W(c)) }

func move[T integer](a uint64) uint64 { return put(T(a)) }

func and[T integer](a, b uint64) uint64 { return put(T(a) & T(b)) }
func or[T integer](a, b uint64) uint64  { return put(T(a) | T(b)) }
func xor[T integer](a, b uint64) uint64 { return put(T(a) ^ T(b)) }
func not[T integer](a uint64) uint64    { return put(^T(a)) }

func popc32(a uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) }
func popc64(a uint64) uint64 { return uint64(bits.OnesCount64(a)) }
func clz32(a uint64) uint64  { return uint64(bits.LeadingZeros32(uint32(a))) }
func clz64(a uint64) uint64  { return uint64(bits.LeadingZeros64(a)) }
func brev32(a uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }
func brev64(a uint64) uint64 { return bits.Reverse64(a) }

// bfeU returns c bits of a from bit b.
func bfeU[T uint32 | uint64](a, b, c uint64) uint64 {
	pos, n := uint(b&255), uint(c&255)
	v := T(a) >> pos
	if n < uint(8*unsafe.Sizeof(v)) {
		v &= T(1)<<n - 1
	}
	return put(v)
}

// bfeS returns c bits of a from bit b, sign-extended. Bits beyond the top of a equal
// its top bit.
func bfeS[T int32 | int64](a, b, c uint64) uint64 {
	width := uint(8 * unsafe.Sizeof(T(0)))
	pos, n := uint(b&255), uint(c&255)
	if n == 0 {
		return 0
	}
	v := T(a) >> pos
	if n < width {
		v = v << (width - n) >> (width - n)
	}
	return put(v)
}

// bfi puts the low n bits of a into b at bit pos.
func bfi[T uint32 | uint64](a, b, pos, n uint64) uint64 {
	m := ^T(0)
	if n &= 255; n < uint64(8*unsafe.Sizeof(m)) {
		m = T(1)<<n - 1
	}
	p := uint(pos & 255)
	return put(T(b)&^(m<<p) | T(a)&m<<p)
}

// prmt picks four of the eight bytes of b:a, one for each nibble of c. If the top bit
// of the nibble is set, it returns the sign of the byte in all 8 bits.
func prmt(a, b, c uint64) uint64 {
	all := a&mask(4) | b<<32
	var r uint64
	for i := range 4 {
		sel := c >> (4 * i)
		v := all >> (8 * (sel & 7)) & 255
		if sel&8 != 0 {
			v = uint64(int64(int8(v))>>7) & 255
		}
		r |= v << (8 * i)
	}
	return r
}

// shf shifts the 64 bits of b:a and returns the upper word (left) or the lower word
// (right). The amount is taken modulo 32 (wrap) or limited to 32 (clamp).
func shf(left, wrap bool) func(a, b, c uint64) uint64 {
	return func(a, b, c uint64) uint64 {
		n := uint32(c)
		if wrap {
			n &= 31
		} else {
			n = min(n, 32)
		}
		v := a&mask(4) | b<<32
		if left {
			return v << n >> 32
		}
		return v >> n & mask(4)
	}
}

// lop3 applies any function of three bits, given by its truth table.
func lop3(a, b, c, table uint64) uint64 {
	var r uint64
	for i := range uint64(8) {
		if table>>i&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if i&4 == 0 {
			x = ^a
		}
		if i&2 == 0 {
			y = ^b
		}
		if i&1 == 0 {
			z = ^c
		}
		r |= x & y & z
	}
	return r & mask(4)
}
