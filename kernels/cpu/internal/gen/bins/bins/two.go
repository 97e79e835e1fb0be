package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// copiesOfTwo generates the first pass with two interleaved vectors: a line of entries gives two
// lines of elements.
func copiesOfTwo(e elem) {
	name := "copyBinsOfTwo" + e.Suffix()
	e.Func(name, "func(to, x *V, columns *uint16, runs *uint32, n, from int, next *V, lines int)",
		"is copyBins for two interleaved vectors; to begins with line from:",
		"",
		"\tto[2*((r.line-from)*lineLen+i)+j] = x[2*columns[0]+j]  for j = 0, 1",
		"",
		"For each line it prefetches two lines of 64 bytes from next on, lines in all.")
	to := Load(Param("to"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, "", Load(Param("columns"), GP64()), nil)
	runs := Load(Param("runs"), GP64())
	n := Load(Param("n"), GP64())
	from := Load(Param("from"), GP64())
	next := Load(Param("next"), GP64())
	end := Load(Param("lines"), GP64())
	SHLQ(Imm(6), end)
	ADDQ(next, end)
	SHLQ(Imm(7), from)
	SUBQ(from, to)
	e.eachLine(2, runs, n, to, next, end, func(at Register) { entries.copyTwo(x, at) })
}

// copyTwo writes the pairs of elements of x of a line of entries.
func (s *entries) copyTwo(x, to Register) {
	s.prefetch()
	for r := range 2 * line / register {
		s.Stream(gatherPairs(s.elem, x, Mem{Base: s.numbers, Disp: register / s.Size() * r}), Mem{Base: to, Disp: register * r})
	}
	s.advance()
}

// gatherPairs fills a register with pairs of elements of x.
func gatherPairs(e elem, x Register, columns Mem) VecVirtual {
	if !e.Double {
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

// multiplyTwo generates the second pass with two interleaved vectors.
func multiplyTwo(e elem, storage string) {
	e.secondPass("multiplyBinOfTwo"+e.TypeName()+storage+"AVX2", storage, 2, func(s *entries, i int, x, sums, row Register) {
		to, from := Mem{Base: sums, Index: row, Scale: 8}, Mem{Base: x, Disp: 2 * e.Size() * i}
		sum, value := XMM(), s.twice(i)
		if e.Double {
			ADDQ(row, row)
			VMOVUPD(to, sum)
			e.FMA(from, value, sum)
			VMOVUPD(sum, to)
			return
		}
		pair := XMM()
		VMOVSD(to, sum)
		VMOVSD(from, pair)
		e.FMA(pair, value, sum)
		VMOVSD(sum, to)
	})
}

// twice returns value i of the line, in the two lowest elements of a register.
func (s *entries) twice(i int) VecVirtual {
	from, value := Mem{Base: s.values, Disp: s.width * i}, XMM()
	switch {
	case s.storage == "Full" && s.Double:
		VMOVDDUP(from, value)
	case s.storage == "Full":
		s.Broadcast(from, value)
	default:
		value = s.single(i)
		if s.storage == "Short" {
			VUNPCKLPD(value, value, value)
		}
	}
	return value
}
