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

// Turns moves registers over two that lie side by side.
type Turns struct {
	l           Lanes
	table, zero Register
}

// NewTurns loads what is kept in registers.
func (l Lanes) NewTurns() *Turns {
	t := &Turns{l: l, table: GP64()}
	LEAQ(static("turns"), t.table)
	if l.Long {
		zero := l.Reg()
		l.Zero(zero)
		t.zero = zero
	}
	return t
}

// Where the data of Turns is, in bytes: the places of words that are loaded from two registers of 16, so
// that those from word 16 on are behind, and, for each of 32 words, whether it is behind.
const (
	turnsFirst  = 4 * 32
	turnsSecond = 4 * 16
	turnsBehind = 4 * (48 + 16)
)

// DefineTurned defines the data that Turns needs, once in a file.
func DefineTurned() {
	Lanes{}.Define("turns", 48+32, func(i int) uint64 {
		if i < 48 {
			return uint64(i % 32)
		}
		return uint64(-((i - 48) / 16))
	})
}

// Add adds lane i of v to lane i+by of first, or to lane i+by-Count of second. before is -by, and 0 < by < Count.
// v is spoiled.
func (t *Turns) Add(v VecVirtual, before Register, first, second VecVirtual) {
	l := t.l
	at := func(disp int) Mem { return Mem{Base: t.table, Index: before, Scale: uint8(l.Size()), Disp: disp} }
	toFirst, toSecond := l.Reg(), l.Reg()
	VMOVUPS(at(turnsFirst), toFirst)
	if l.Long {
		VMOVUPS(at(turnsSecond), toSecond)
		VPERMI2PS(t.zero, v, toFirst)
		VPERMI2PS(t.zero, v, toSecond)
	} else {
		VPERMPS(v, toFirst, v)
		VMOVUPS(at(turnsBehind), toSecond)
		VANDPS(v, toSecond, toFirst)
		VANDNPS(v, toSecond, toSecond)
	}
	l.Add(toFirst, first, first)
	l.Add(toSecond, second, second)
}

// First makes m the mask of the first lanes. before is as many bytes, less than a register, below 0.
func (t *Turns) First(before Register, m *Mask) {
	behind := t.l.Reg()
	VMOVUPS(Mem{Base: t.table, Index: before, Scale: 1, Disp: turnsBehind}, behind)
	if t.l.Long {
		Pick(t.l, VPMOVQ2M, VPMOVD2M)(behind, m.k)
		KNOTW(m.k, m.k)
		return
	}
	VPCMPEQD(m.v, m.v, m.v)
	VANDNPS(m.v, behind, m.v)
}
