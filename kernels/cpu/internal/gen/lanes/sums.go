package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// StoreSums stores the sum over the lanes of each of up to four registers. There must be room for
// four sums. Registers of 512 bits must be of float64.
func (l Lanes) StoreSums(acc []VecVirtual, to Mem) {
	switch {
	case l.Long:
		storeEights(acc, to)
	case l.Double:
		storeFours(acc, to)
	default:
		storeSingles(acc, to)
	}
}

// storeEights stores the sums of up to four registers of eight doubles, and undefined values up to
// the next power of two.
func storeEights(acc []VecVirtual, to Mem) {
	pairs := acc[0]
	if len(acc) > 1 {
		pairs = unpackedSum(acc[0], acc[1])
	}
	if len(acc) > 2 {
		last := unpackedSum(acc[2], acc[len(acc)-1])
		lo, hi := ZMM(), ZMM()
		// Quarters: two of the first pair, two of the second, and so on.
		VSHUFF64X2(Imm(0x44), last, pairs, lo)
		VSHUFF64X2(Imm(0xEE), last, pairs, hi)
		VADDPD(hi, lo, lo)
		VSHUFF64X2(Imm(0x08), lo, lo, hi) // quarters 0 and 2
		VSHUFF64X2(Imm(0x0D), lo, lo, lo) // quarters 1 and 3
		VADDPD(hi.AsY(), lo.AsY(), lo.AsY())
		VMOVUPD(lo.AsY(), to)
		return
	}
	half, sum := YMM(), XMM()
	VEXTRACTF64X4(Imm(1), pairs, half)
	VADDPD(pairs.AsY(), half, half)
	VEXTRACTF128(Imm(1), half, sum)
	VADDPD(half.AsX(), sum, sum)
	if len(acc) > 1 {
		VMOVUPD(sum, to)
		return
	}
	high := XMM()
	VUNPCKHPD(sum, sum, high)
	VADDSD(high, sum, sum)
	VMOVSD(sum, to)
}

// unpackedSum adds the two lanes of each quarter: of a first, then of b.
func unpackedSum(a, b VecVirtual) VecVirtual {
	lo, hi := ZMM(), ZMM()
	VUNPCKLPD(b, a, lo)
	VUNPCKHPD(b, a, hi)
	VADDPD(hi, lo, lo)
	return lo
}

// storeFours stores the sums of up to four registers of four doubles, and undefined values up to
// the second or fourth.
func storeFours(acc []VecVirtual, to Mem) {
	of := func(r int) VecVirtual { return acc[min(r, len(acc)-1)] }
	first := YMM()
	VHADDPD(of(1), of(0), first)
	if len(acc) <= 2 {
		high := XMM()
		VEXTRACTF128(Imm(1), first, high)
		VADDPD(high, first.AsX(), high)
		VMOVUPD(high, to)
		return
	}
	last, inner := YMM(), YMM()
	VHADDPD(of(3), of(2), last)
	VPERM2F128(Imm(0x21), last, first, inner) // the upper half of first, the lower half of last
	VBLENDPD(Imm(0xC), last, first, first)
	VADDPD(inner, first, first)
	VMOVUPD(first, to)
}

// storeSingles stores the sums of up to four registers, and undefined values up to the fourth.
func storeSingles(acc []VecVirtual, to Mem) {
	of := func(r int) VecVirtual { return acc[min(r, len(acc)-1)] }
	first, last, sum := YMM(), YMM(), XMM()
	VHADDPS(of(1), of(0), first)
	VHADDPS(of(3), of(2), last)
	VHADDPS(last, first, first)
	VEXTRACTF128(Imm(1), first, sum)
	VADDPS(first.AsX(), sum, sum)
	VMOVUPS(sum, to)
}
