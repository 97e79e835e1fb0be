package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// productsOfTwo generates the first pass with two vectors side by side, for values that are
// stored in one of the ways: a line of entries gives two of products.
func productsOfTwo(e elem, storage string) {
	name := "binProductsOfTwo" + e.name + storage + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(to, x *%[1]s, columns *uint16, values *byte, runs *uint32, n, from int, next *%[1]s, lines int)", e.typ))
	Pragma("noescape")
	Doc(name+" writes the products of n runs past the caches, where to is the place of those of",
		"line from, and asks for so many lines of 64 bytes from next on, two for each line of entries.")
	to := Load(Param("to"), GP64())
	x := Load(Param("x"), GP64())
	columns := Load(Param("columns"), GP64())
	values := Load(Param("values"), GP64())
	runs := Load(Param("runs"), GP64())
	n := Load(Param("n"), GP64())
	from := Load(Param("from"), GP64())
	next := Load(Param("next"), GP64())
	end := Load(Param("lines"), GP64())
	SHLQ(Imm(6), end)
	ADDQ(next, end)
	SHLQ(Imm(7), from)
	SUBQ(from, to)

	entries := newEntries(e, storage, columns, values)
	e.eachLine(2, runs, n, to, next, end, func(at Register) { entries.writeTwo(x, at) })
}

// writeTwo writes the products of a line of entries with pairs of elements of x.
func (s *entries) writeTwo(x, to Register) {
	s.ask()
	for r := range 2 * line / register {
		v := gatherPairs(s.elem, x, Mem{Base: s.columns, Disp: register / s.size * r})
		s.mul(s.twice(r), v, v)
		s.stream(v, Mem{Base: to, Disp: register * r})
	}
	s.advance()
}

// gatherPairs fills a register with pairs of elements of x.
func gatherPairs(e elem, x Register, columns Mem) VecVirtual {
	if e.size == 4 {
		return gather(double, x, columns)
	}
	pair := func(i int) Mem {
		c := GP64()
		MOVWLZX(columns.Offset(2*i), c.As32())
		ADDQ(c, c)
		return Mem{Base: x, Index: c, Scale: 8}
	}
	v := YMM()
	VMOVUPD(pair(0), v.AsX())
	VINSERTF128(Imm(1), pair(1), v, v)
	return v
}

// twice is the values for register r of the pairs of a line, each two times.
func (s *entries) twice(r int) VecVirtual {
	v := YMM()
	switch {
	case s.storage == "Same":
		return s.same
	case s.size == 4:
		four, high := XMM(), XMM()
		VMOVUPS(Mem{Base: s.values, Disp: 16 * r}, four)
		VUNPCKHPS(four, four, high)
		VUNPCKLPS(four, four, four)
		VINSERTF128(Imm(1), high, four.AsY(), v)
	default:
		VPERMPD(Imm([]uint64{0b01010000, 0b11111010}[r%2]), s.register(r/2), v)
	}
	return v
}

// addOfTwo generates the second pass with two vectors side by side.
func addOfTwo(e elem) {
	name := "addBinOfTwo" + e.name + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(sums, products *%s, rows *uint16, lines int)", e.typ))
	Pragma("noescape")
	Doc(name + " adds so many lines of entries, at least 1, to the sums of their rows.")
	sums := Load(Param("sums"), GP64())
	products := Load(Param("products"), GP64())
	rows := Load(Param("rows"), GP64())
	left := Load(Param("lines"), GP64())
	perLine := e.perLine()
	Label("line")
	PREFETCHT1(Mem{Base: products, Disp: line * ahead})
	PREFETCHT1(Mem{Base: products, Disp: line * (ahead + 1)})
	PREFETCHT1(Mem{Base: rows, Disp: 2 * perLine * ahead})
	for i := range perLine {
		row, sum := GP64(), XMM()
		MOVWLZX(Mem{Base: rows, Disp: 2 * i}, row.As32())
		to, product := Mem{Base: sums, Index: row, Scale: 8}, Mem{Base: products, Disp: 2 * e.size * i}
		if e.size == 8 {
			ADDQ(row, row)
			VMOVUPD(to, sum)
			VADDPD(product, sum, sum)
			VMOVUPD(sum, to)
			continue
		}
		pair := XMM()
		VMOVSD(to, sum)
		VMOVSD(product, pair)
		VADDPS(pair, sum, sum)
		VMOVSD(sum, to)
	}
	ADDQ(Imm(2*line), products)
	ADDQ(Imm(uint64(2*perLine)), rows)
	DECQ(left)
	JNZ(LabelRef("line"))
	RET()
}
