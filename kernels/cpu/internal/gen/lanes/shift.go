package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Rotate rotates the lanes of v by by bytes, a multiple of their size: lane i becomes lane i+by
// modulo Count. by may be negative; it is overwritten.
func (l Lanes) Rotate(by Register, v VecVirtual) {
	from := l.Reg()
	SARQ(Imm(2), by)
	VMOVD(by.(GP).As32(), from.AsX())
	VPBROADCASTD(from.AsX(), from)
	VPADDD(static("fours"), from, from)
	VPERMPS(v, from, v)
}

// DefineRotate defines the data of Rotate, once per file.
func DefineRotate() { Lanes{}.Define("fours", 16, func(i int) uint64 { return uint64(i) }) }

// Shifter shifts a register into two adjacent registers.
type Shifter struct {
	l           Lanes
	table, zero Register
}

// NewShifter loads the constants of a Shifter.
func (l Lanes) NewShifter() *Shifter {
	t := &Shifter{l: l, table: GP64()}
	LEAQ(static("shifter"), t.table)
	if l.Long {
		zero := l.Reg()
		l.Zero(zero)
		t.zero = zero
	}
	return t
}

// The offsets, in bytes, of the data of Shifter: the indices of words of two registers of 16 words,
// where words from 16 on are in the second one; and for each of 32 words whether it is in the
// second one.
const (
	shifterFirst    = 4 * 32
	shifterSecond   = 4 * 16
	shifterIsSecond = 4 * (48 + 16)
)

// DefineShifter defines the data of Shifter, once per file.
func DefineShifter() {
	Lanes{}.Define("shifter", 48+32, func(i int) uint64 {
		if i < 48 {
			return uint64(i % 32)
		}
		return uint64(-((i - 48) / 16))
	})
}

// Add adds lane i of v to lane i+by of first, or to lane i+by-Count of second. before is -by; 0 <
// by < Count. v is overwritten.
func (t *Shifter) Add(v VecVirtual, before Register, first, second VecVirtual) {
	l := t.l
	at := func(disp int) Mem { return Mem{Base: t.table, Index: before, Scale: uint8(l.Size()), Disp: disp} }
	toFirst, toSecond := l.Reg(), l.Reg()
	VMOVUPS(at(shifterFirst), toFirst)
	if l.Long {
		VMOVUPS(at(shifterSecond), toSecond)
		VPERMI2PS(t.zero, v, toFirst)
		VPERMI2PS(t.zero, v, toSecond)
	} else {
		VPERMPS(v, toFirst, v)
		VMOVUPS(at(shifterIsSecond), toSecond)
		VANDPS(v, toSecond, toFirst)
		VANDNPS(v, toSecond, toSecond)
	}
	l.Add(toFirst, first, first)
	l.Add(toSecond, second, second)
}

// First sets m to the mask of the first lanes, -before bytes, less than a register.
func (t *Shifter) First(before Register, m *Mask) {
	behind := t.l.Reg()
	VMOVUPS(Mem{Base: t.table, Index: before, Scale: 1, Disp: shifterIsSecond}, behind)
	if t.l.Long {
		Pick(t.l, VPMOVQ2M, VPMOVD2M)(behind, m.k)
		KNOTW(m.k, m.k)
		return
	}
	VPCMPEQD(m.v, m.v, m.v)
	VANDNPS(m.v, behind, m.v)
}
