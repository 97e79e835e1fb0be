package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// scatterAhead is how many entries before its turn an element of y is asked for.
const scatterAhead = 24

// scatter generates the kernel of Scatter: entry by entry, for elements of y may
// come more than once. With prefetch it asks for elements of y ahead: more of them
// are then under way than the processor looks ahead by itself.
func scatter(name, typ string, e elem) {
	TEXT(name+"AVX2", NOSPLIT, fmt.Sprintf("func(alpha %[1]s, ptr []int64, idx []int32, val, x, y []%[1]s, first int, prefetch bool) (done int)", typ))
	Pragma("noescape")
	Doc(name+"AVX2 is Scatter as far as indices and pointers are in range: it gives the", "number of entries done.")
	size := e.size()

	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	y := Load(Param("y").Base(), GP64())
	n := Load(Param("y").Len(), GP64())
	first := Load(Param("first"), GP64())
	idx := Load(Param("idx").Base(), GP64())
	val := Load(Param("val").Base(), GP64())
	k, r, base := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: ptr}, base)
	XORQ(k, k)
	XORQ(r, r)
	alpha, f := XMM(), XMM()
	e.load(addr(Param("alpha")), alpha)
	end, at, g := GP64(), GP64(), GP64()

	// add adds entry k and goes on.
	add := func() {
		MOVLQSX(Mem{Base: idx, Index: k, Scale: 4}, at)
		SUBQ(first, at)
		CMPQ(at, n)
		JAE(LabelRef("out"))
		v := XMM()
		e.load(Mem{Base: val, Index: k, Scale: uint8(size)}, v)
		e.mul(f, v, v)
		to := Mem{Base: y, Index: at, Scale: uint8(size)}
		e.add(to, v, v)
		e.store(v, to)
		INCQ(k)
	}

	Label("row")
	INCQ(r)
	CMPQ(r, addr(Param("ptr").Len()))
	JGE(LabelRef("out"))
	MOVQ(Mem{Base: ptr, Index: r, Scale: 8}, end)
	SUBQ(base, end)
	CMPQ(end, addr(Param("idx").Len()))
	JG(LabelRef("out"))
	CMPQ(end, k)
	JL(LabelRef("out"))
	JE(LabelRef("row"))
	e.load(Mem{Base: x, Index: r, Scale: uint8(size), Disp: -size}, f)
	e.mul(alpha, f, f)
	CMPB(addr(Param("prefetch")), Imm(0))
	JNE(LabelRef("ahead"))
	Label("near")
	add()
	CMPQ(k, end)
	JL(LabelRef("near"))
	JMP(LabelRef("row"))
	Label("ahead")
	LEAQ(Mem{Base: k, Disp: scatterAhead}, g)
	CMPQ(g, addr(Param("idx").Len()))
	CMOVQGE(k, g)
	MOVLQSX(Mem{Base: idx, Index: g, Scale: 4}, g)
	SUBQ(first, g)
	PREFETCHT0(Mem{Base: y, Index: g, Scale: uint8(size)})
	add()
	CMPQ(k, end)
	JL(LabelRef("ahead"))
	JMP(LabelRef("row"))
	Label("out")
	Store(k, ReturnIndex(0))
	RET()
}
