package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// multiply generates the second pass for sums of a fixed shape, for values that are stored in one
// of the ways: the first pass has copied x.
func multiply(e elem, storage string) {
	name := "multiplyBin" + e.name + storage + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(sums, x *%s, rows *uint16, values *byte, lines int)", e.typ))
	Pragma("noescape")
	Doc(name+" multiplies so many lines of x, at least 1, by values and adds them to the sums of",
		"their rows, entry by entry, with one rounding each.")
	sums := Load(Param("sums"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, storage, Load(Param("rows"), GP64()), Load(Param("values"), GP64()))
	left := Load(Param("lines"), GP64())
	Label("line")
	PREFETCHT1(Mem{Base: x, Disp: line * ahead})
	entries.ask()
	for i := range e.perLine() {
		row, sum, value := GP64(), XMM(), entries.single(i)
		MOVWLZX(Mem{Base: entries.columns, Disp: 2 * i}, row.As32())
		to := Mem{Base: sums, Index: row, Scale: uint8(e.size)}
		e.move(to, sum)
		e.fma(Mem{Base: x, Disp: e.size * i}, value, sum)
		e.move(sum, to)
	}
	entries.advance()
	ADDQ(Imm(line), x)
	DECQ(left)
	JNZ(LabelRef("line"))
	VZEROUPPER()
	RET()
}

// single is value i of the line, in the first place of a register.
func (s *entries) single(i int) Op {
	from, value := Mem{Base: s.values, Disp: s.width * i}, XMM()
	switch s.storage {
	case "Same":
		return s.same.AsX()
	case "Short":
		VXORPS(value, value, value)
		VCVTSS2SD(from, value, value)
	default:
		s.move(from, value)
	}
	return value
}
