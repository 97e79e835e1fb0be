package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Four loads the four elements at m, for OneOfFour: each quarter (float32) or half (float64) of the
// register has them.
func (l Lanes) Four(m Mem) VecVirtual {
	all := l.Reg()
	switch {
	case l.Double && l.Long:
		VBROADCASTF64X4(m, all)
	case l.Double:
		all = YMM()
		VMOVUPD(m, all)
	case l.Half:
		l.Load(m, all)
	case l.Long:
		VBROADCASTF32X4(m, all)
	default:
		VBROADCASTF128(m, all)
	}
	return all
}

// OneOfFour fills a register with element i of Four. It saves loads, which limit kernels.
func (l Lanes) OneOfFour(four VecVirtual, i int) VecVirtual {
	f := l.Reg()
	if l.Double && l.Half {
		f = YMM()
	}
	Pick(l, VPERMPD, VPERMILPS)(Imm(uint64(0x55*i)), four, f)
	if l.Double && l.Half {
		return f.AsX().(VecVirtual)
	}
	return f
}
