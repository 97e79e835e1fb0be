package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// multiply generates the second pass for values that are stored in one of the ways.
func multiply(e elem, storage string) {
	e.secondPass("multiplyBin"+e.TypeName()+storage+"AVX2", storage, 1, func(s *entries, i int, x, sums, row Register) {
		to, sum, value := Mem{Base: sums, Index: row, Scale: uint8(e.Size())}, XMM(), s.single(i)
		e.MoveOne(to, sum)
		e.FMAOne(Mem{Base: x, Disp: e.Size() * i}, value, sum)
		e.MoveOne(sum, to)
	})
}

// secondPass generates a kernel that does the same for each entry i of each line, where lines is
// the lines of x for one of entries.
func (e elem) secondPass(name, storage string, lines int, add func(s *entries, i int, x, sums, row Register)) {
	e.Func(name, "func(sums, x *V, rows *uint16, values *byte, lines int)",
		"multiplies so many lines of entries, at least 1, by the elements of x that were copied",
		"for them, and adds them to the sums of their rows, one after the other, with one rounding.")
	sums := Load(Param("sums"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, storage, Load(Param("rows"), GP64()), Load(Param("values"), GP64()))
	left := Load(Param("lines"), GP64())
	Label("line")
	for i := range lines {
		PREFETCHT1(Mem{Base: x, Disp: line * (ahead + i)})
	}
	entries.ask()
	for i := range e.perLine() {
		row := GP64()
		MOVWLZX(Mem{Base: entries.numbers, Disp: 2 * i}, row.As32())
		add(entries, i, x, sums, row)
	}
	entries.advance()
	ADDQ(Imm(uint64(lines*line)), x)
	DECQ(left)
	JNZ(LabelRef("line"))
	VZEROUPPER()
	RET()
}

// single is value i of the line, in the first place of a register.
func (s *entries) single(i int) VecVirtual {
	from, value := Mem{Base: s.values, Disp: s.width * i}, XMM()
	switch s.storage {
	case "Same":
		return s.same.AsX().(VecVirtual)
	case "Short":
		VXORPS(value, value, value)
		VCVTSS2SD(from, value, value)
	default:
		s.MoveOne(from, value)
	}
	return value
}
