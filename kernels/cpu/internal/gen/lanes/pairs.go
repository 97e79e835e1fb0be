package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Pairs returns a function that loads, for every lane, the element at at(lane) and the next one
// with one load. It returns a register of the first elements and one of the second elements. It is
// for 256 bits and more.
func (l Lanes) Pairs() func(at func(lane int) Mem) (first, second VecVirtual) {
	if l.Double {
		return l.doublePairs
	}
	// A pair is as long as a double.
	pairs := Lanes{Double: true, Long: l.Long}
	gather := pairs.GatherFrom
	if l.Long {
		gather = pairs.Merger()
	}
	return func(at func(lane int) Mem) (first, second VecVirtual) {
		// The first two of each four lanes, or the other two.
		half := func(h int) VecVirtual {
			return gather(func(i int) Mem { return at(4*(i/2) + 2*h + i%2) })
		}
		a, b := half(0), half(1)
		first, second = l.Reg(), l.Reg()
		VSHUFPS(Imm(0x88), b, a, first)
		VSHUFPS(Imm(0xDD), b, a, second)
		return first, second
	}
}

// doublePairs is Pairs for float64.
func (l Lanes) doublePairs(at func(lane int) Mem) (first, second VecVirtual) {
	half := func(lane int) [2]VecVirtual { // even lanes, odd lanes
		even, odd := YMM(), YMM()
		VMOVUPD(at(lane), even.AsX())
		VMOVUPD(at(lane+1), odd.AsX())
		VINSERTF128(Imm(1), at(lane+2), even, even)
		VINSERTF128(Imm(1), at(lane+3), odd, odd)
		return [2]VecVirtual{even, odd}
	}
	pairs := half(0)
	if l.Long {
		for i, high := range half(4) {
			low := pairs[i]
			pairs[i] = ZMM()
			VINSERTF64X4(Imm(1), high, low.AsZ(), pairs[i])
		}
	}
	first, second = l.Reg(), l.Reg()
	VUNPCKLPD(pairs[1], pairs[0], first)
	VUNPCKHPD(pairs[1], pairs[0], second)
	return first, second
}
