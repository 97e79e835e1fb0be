package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Pairs gives what loads for every lane the element that lies at a place, and the one behind it, both at
// once: the first elements of all lanes, and the second ones. It is for 256 bits and more.
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
		// Of each four lanes the first two, and the other ones.
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

// doublePairs does what Pairs says for doubles.
func (l Lanes) doublePairs(at func(lane int) Mem) (first, second VecVirtual) {
	half := func(lane int) [2]VecVirtual { // of even lanes, and of odd ones
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
