package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// maxVectors is how many registers of one row of y are summed at once: two sums
// of each, and the rest for factors.
const maxVectors = 4

// rows generates the kernel of RowsMany for up to maxVectors registers of columns,
// the last of which may be filled in part.
//
// Two entries of a row are taken at a time, in sums of their own. An index that is
// not below rowsX, and a pointer that falls or leaves idx, end the call with the
// rows done before.
func rows(p part) {
	name, size := "many"+p.Suffix(), p.Size()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(alpha, beta %[1]s, ptr []int64, idx []int32, val, x, y []%[1]s, rowsX, ldx, ldy, vectors, last int, stream bool) (done int)", p.Type()))
	Pragma("noescape")
	Doc(name+" is RowsMany for columns that fill vectors registers, last elements of",
		"the last one, as far as indices and pointers are in range: it gives the number of",
		"rows done, len(ptr)-1 at most. ldx and ldy are bytes. With stream y is written",
		"around the caches: beta must be 0, all registers filled, and y aligned to them.")

	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	y := Load(Param("y").Base(), GP64())
	n := Load(Param("rowsX"), GP64())
	ldx := Load(Param("ldx"), GP64())
	k := GP64()
	MOVQ(Mem{Base: ptr}, k)
	// With these bases entry k lies at idx+4k and val+size*k, k as ptr counts.
	idx := Load(Param("idx").Base(), GP64())
	val := Load(Param("val").Base(), GP64())
	t := GP64()
	MOVQ(k, t)
	SHLQ(Imm(2), t)
	SUBQ(t, idx)
	if p.Double {
		SHLQ(Imm(1), t)
	}
	SUBQ(t, val)
	end := Load(Param("idx").Len(), GP64())
	ADDQ(k, end)
	p.setMask(Load(Param("last"), GP64()))
	alpha, beta := p.Reg(), p.Reg()
	p.Broadcast(addr(Param("alpha")), alpha)
	p.Broadcast(addr(Param("beta")), beta)
	readsY := GP64() // 0 for beta = 0 and -0
	if p.Double {
		MOVQ(addr(Param("beta")), readsY)
		ADDQ(readsY, readsY)
	} else {
		MOVL(addr(Param("beta")), readsY.As32())
		ADDL(readsY.As32(), readsY.As32())
	}
	r := GP64()
	MOVQ(U32(1), r)

	for v := 1; v < maxVectors; v++ {
		CMPQ(addr(Param("vectors")), Imm(uint64(v)))
		JEQ(LabelRef(label("row", v)))
	}
	for v := maxVectors; v > 0; v-- {
		sums := [2][]VecVirtual{}
		for i := range 2 * v {
			sums[i%2] = append(sums[i%2], p.Reg())
		}
		fma := func(j int, m Mem, f, acc VecVirtual) {
			if j == v-1 {
				p.fmaPart(m, f, acc)
			} else {
				p.FMA(m, f, acc)
			}
		}
		// entry adds the product of entry k+i to its sums.
		entry := func(i int) {
			g, f := GP64(), p.Reg()
			MOVL(Mem{Base: idx, Index: k, Scale: 4, Disp: 4 * i}, g.As32())
			CMPQ(g, n)
			JAE(LabelRef("out"))
			IMULQ(ldx, g)
			p.Broadcast(Mem{Base: val, Index: k, Scale: uint8(size), Disp: size * i}, f)
			for j := range v {
				fma(j, Mem{Base: x, Index: g, Scale: 1, Disp: j * p.Bytes()}, f, sums[i][j])
			}
		}
		at := func(j int) Mem { return Mem{Base: y, Disp: j * p.Bytes()} }

		Label(label("row", v))
		CMPQ(r, addr(Param("ptr").Len()))
		JGE(LabelRef("out"))
		left := GP64()
		MOVQ(Mem{Base: ptr, Index: r, Scale: 8}, left)
		CMPQ(left, end)
		JG(LabelRef("out"))
		SUBQ(k, left)
		JL(LabelRef("out"))
		for i := range sums {
			for _, a := range sums[i] {
				p.Zero(a)
			}
		}
		SUBQ(Imm(2), left)
		JL(LabelRef(label("odd", v)))
		Label(label("pair", v))
		entry(0)
		entry(1)
		ADDQ(Imm(2), k)
		SUBQ(Imm(2), left)
		JGE(LabelRef(label("pair", v)))
		Label(label("odd", v))
		ADDQ(Imm(1), left)
		JL(LabelRef(label("finish", v)))
		entry(0)
		INCQ(k)
		Label(label("finish", v))
		for j, a := range sums[0] {
			p.add(sums[1][j], a, a)
			p.Mul(alpha, a, a)
		}
		TESTQ(readsY, readsY)
		JZ(LabelRef(label("overwrite", v)))
		for j, a := range sums[0] {
			fma(j, at(j), beta, a)
		}
		Label(label("overwrite", v))
		CMPB(addr(Param("stream")), Imm(0))
		JNE(LabelRef(label("stream", v)))
		for j, a := range sums[0] {
			if j == v-1 {
				p.storePart(a, at(j))
			} else {
				p.Store(a, at(j))
			}
		}
		Label(label("next", v))
		INCQ(r)
		ADDQ(addr(Param("ldy")), y)
		JMP(LabelRef(label("row", v)))
		Label(label("stream", v))
		for j, a := range sums[0] {
			p.stream(a, at(j))
		}
		JMP(LabelRef(label("next", v)))
	}
	Label("out")
	SFENCE()
	DECQ(r)
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// addr is where a parameter lies.
func addr(c Component) Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
