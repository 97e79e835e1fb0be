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
	if l.Long {
		Pick(l, VALIGNQ, VALIGND)(Imm(uint64(l.Count()-by)), before, v, dst)
	} else {
		const highThenLow = 3 // the upper half of before, then the lower one of v
		t := l.Reg()
		VPERM2F128(Imm(highThenLow), before, v, t)
		VPALIGNR(Imm(uint64(16-by*l.Size())), t, v, dst)
	}
}

// Ahead moves the lanes of v by some, and the first ones of next to the lanes that become
// free, for registers of 256 bits: lane i of dst is lane i+by of v, or lane i+by-Count of
// next. by is less than the lanes.
func (l Lanes) Ahead(next VecVirtual, v Mem, by Register, dst VecVirtual) {
	table, rotation, from, to := GP64(), YMM(), YMM(), YMM()
	LEAQ(static("rotations"), table)
	VMOVUPS(Mem{Base: table, Index: by, Scale: uint8(l.Size())}, rotation)
	VPERMPS(v, rotation, from)
	VPERMPS(next, rotation, to)
	LEAQ(static("lastLanes"), table)
	VMOVUPS(Mem{Base: table, Index: by, Scale: uint8(l.Size())}, dst)
	VBLENDVPS(dst, to, from, dst)
}

// DefineAhead defines the data that Ahead needs, once in a file.
func DefineAhead() {
	Lanes{}.Define("rotations", 16, func(i int) uint64 { return uint64(i % 8) })
	Lanes{}.Define("lastLanes", 16, func(i int) uint64 { return uint64(-(i / 8)) })
}

// Turn moves the lanes of v by some bytes, a multiple of their size: lane i becomes lane i+by, counted
// from the first one again behind the last one. by may be negative, and is spoiled.
func (l Lanes) Turn(by Register, v VecVirtual) {
	from := l.Reg()
	SARQ(Imm(2), by)
	VMOVD(by.(GP).As32(), from.AsX())
	VPBROADCASTD(from.AsX(), from)
	VPADDD(static("fours"), from, from)
	VPERMPS(v, from, v)
}

// DefineTurns defines the data that Turn needs, once in a file.
func DefineTurns() { Lanes{}.Define("fours", 16, func(i int) uint64 { return uint64(i) }) }
