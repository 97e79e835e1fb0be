package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// multiply generates the second pass for one storage of values.
func multiply(e elem, storage string) {
	e.secondPass("multiplyBin"+e.TypeName()+storage+"AVX2", storage, 1, func(s *entries, i int, x, sums, row Register) {
		to, sum, value := Mem{Base: sums, Index: row, Scale: uint8(e.Size())}, XMM(), s.single(i)
		e.MoveOne(to, sum)
		e.FMAOne(Mem{Base: x, Disp: e.Size() * i}, value, sum)
		e.MoveOne(sum, to)
	})
}

// secondPass generates a kernel that calls add for each entry i of each line. lines is the number
// of lines of x per line of entries.
func (e elem) secondPass(name, storage string, lines int, add func(s *entries, i int, x, sums, row Register)) {
	e.Func(name, "func(sums, x *V, rows *uint16, values *byte, lines int)",
		"computes, with one rounding each,",
		"",
		"\tfor i := range lines * lineLen {",
		"\t\tsums[rows[i]] += value(i) * x[i]",
		"\t}",
		"",
		"for lines > 0. In OfTwo, x and sums have two interleaved vectors.")
	sums := Load(Param("sums"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, storage, Load(Param("rows"), GP64()), Load(Param("values"), GP64()))
	left := Load(Param("lines"), GP64())
	Label("line")
	for i := range lines {
		PREFETCHT1(Mem{Base: x, Disp: line * (ahead + i)})
	}
	entries.prefetch()
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

// single returns value i of the line, as the lowest element of a register.
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
