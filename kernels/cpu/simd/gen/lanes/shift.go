package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Behind moves the lanes of v by some, and the last ones of before to the lanes that
// become free: lane i of dst is lane i-by of v, or lane i-by+Count of before for i < by.
// by is at most 16 bytes.
func (l Lanes) Behind(before Mem, v VecVirtual, by int, dst VecVirtual) {
	switch {
	case l.Long && l.Double:
		VALIGNQ(Imm(uint64(l.Count()-by)), before, v, dst)
	case l.Long:
		VALIGND(Imm(uint64(l.Count()-by)), before, v, dst)
	default:
		const highThenLow = 3 // the upper half of before, then the lower one of v
		t := l.Reg()
		VPERM2F128(Imm(highThenLow), before, v, t)
		VPALIGNR(Imm(uint64(16-by*l.Size())), t, v, dst)
	}
}
