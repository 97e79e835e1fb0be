package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ahead is how many bytes before their use values and indices are asked for: the
// processor's own prefetching stops at each page.
const ahead = 2048

// rows generates the kernel of Rows: eight entries at a time, then one by one.
//
// Elements of x are loaded one by one: on Zen 4 that is faster than the gather
// instruction, elsewhere about as fast. An index that is not below len(x), and a
// pointer that falls or leaves idx, end the call with the rows done before.
func rows(name, typ string, e elem) {
	TEXT(name+"AVX2", NOSPLIT, fmt.Sprintf("func(alpha, beta %[1]s, ptr []int64, idx []int32, val, x, y []%[1]s) (done int)", typ))
	Pragma("noescape")
	Doc(name+"AVX2 is Rows as far as indices and pointers are in range: it gives the", "number of rows done.")
	size := e.size()

	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	n := Load(Param("x").Len(), GP64())
	k := GP64()
	MOVQ(Mem{Base: ptr}, k)
	// With these bases entry k lies at idx+4k and val+size*k, k as ptr counts.
	idx := Load(Param("idx").Base(), GP64())
	val := Load(Param("val").Base(), GP64())
	t := GP64()
	MOVQ(k, t)
	SHLQ(Imm(2), t)
	SUBQ(t, idx)
	if size == 8 {
		SHLQ(Imm(1), t)
	}
	SUBQ(t, val)
	end := Load(Param("idx").Len(), GP64())
	ADDQ(k, end)
	m := addr(Param("y").Len())
	r := GP64()
	XORQ(r, r)
	alpha, beta, readsY := XMM(), XMM(), GP64()
	e.load(addr(Param("alpha")), alpha)
	e.load(addr(Param("beta")), beta)
	e.bits(addr(Param("beta")), readsY)
	ADDQ(readsY, readsY) // 0 for 0 and -0

	left, s0 := GP64(), XMM()
	// index loads index i behind k and checks it.
	index := func(i int) GPVirtual {
		g := GP64()
		MOVL(Mem{Base: idx, Index: k, Scale: 4, Disp: 4 * i}, g.As32())
		CMPQ(g, n)
		JAE(LabelRef("out"))
		return g
	}
	value := func(i int) Mem { return Mem{Base: val, Index: k, Scale: uint8(size), Disp: size * i} }

	Label("row")
	CMPQ(r, m)
	JGE(LabelRef("out"))
	MOVQ(Mem{Base: ptr, Index: r, Scale: 8, Disp: 8}, left)
	CMPQ(left, end)
	JG(LabelRef("out"))
	SUBQ(k, left)
	JL(LabelRef("out"))
	VXORPS(s0, s0, s0)
	CMPQ(left, Imm(8))
	JL(LabelRef("rest"))

	a0, a1 := YMM(), YMM()
	VXORPS(a0, a0, a0)
	VXORPS(a1, a1, a1)
	Label("eight")
	PREFETCHT0(value(ahead / size))
	PREFETCHT0(Mem{Base: idx, Index: k, Scale: 4, Disp: ahead})
	acc := []VecVirtual{a0, a1}
	loaded := e.load8(func(half int) VecVirtual {
		var at [4]GPVirtual
		for i := range at {
			at[i] = index(4*half + i)
		}
		v := YMM()
		e.load4(x, at, v)
		return v
	})
	for i, v := range loaded {
		e.fmaPacked(value(i*32/size), v, acc[i])
	}
	ADDQ(Imm(8), k)
	SUBQ(Imm(8), left)
	CMPQ(left, Imm(8))
	JGE(LabelRef("eight"))
	e.addPacked(a1, a0, a0)
	e.reduce(a0, s0)

	// One by one: a single branch for the processor to guess wrong.
	Label("rest")
	SUBQ(Imm(1), left)
	JL(LabelRef("finish"))
	Label("one")
	at := index(0)
	v := XMM()
	e.load(value(0), v)
	e.fma(Mem{Base: x, Index: at, Scale: uint8(size)}, v, s0)
	INCQ(k)
	SUBQ(Imm(1), left)
	JGE(LabelRef("one"))
	Label("finish")
	e.mul(alpha, s0, s0)
	y := Load(Param("y").Base(), GP64())
	TESTQ(readsY, readsY)
	JZ(LabelRef("store"))
	e.fma(Mem{Base: y, Index: r, Scale: uint8(size)}, beta, s0)
	Label("store")
	e.store(s0, Mem{Base: y, Index: r, Scale: uint8(size)})
	INCQ(r)
	JMP(LabelRef("row"))
	Label("out")
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// addr is where a parameter lies.
func addr(c gotypes.Component) Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
