package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// maxVectors is how many registers of one row of y are summed at once: two sums
// of each, and the rest for factors.
const maxVectors = 4

// A row of x is asked for twice: farBytes of rows before its turn for the second
// cache, which waits for more lines at a time than the first, and near entries before
// it for the first.
const (
	farBytes = 256 * 64
	near     = 16
)

// rows generates the kernel of RowsMany for up to maxVectors registers of columns,
// the last of which may be filled in part.
//
// Two entries of a row are taken at a time, in sums of their own. An index that is
// not below rowsX, and a pointer that falls or leaves idx, end the call with the
// rows done before.
func rows(p lanes.Part) {
	name, size := "many"+p.Suffix(), p.Size()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(alpha, beta %[1]s, ptr []int64, idx []int32, val, x, y []%[1]s, rowsX, ldx, ldy, vectors, last, asks int, stream bool) (done int)", p.Type()))
	Pragma("noescape")
	Doc(name+" is RowsMany for columns that fill vectors registers, last elements of",
		"the last one, as far as indices and pointers are in range: it gives the number of",
		"rows done, len(ptr)-1 at most. ldx and ldy are bytes. With stream y is written",
		"around the caches: beta must be 0, all registers filled, and y aligned to them.",
		"Rows of x are brought to the cache for entries below asks, as ptr counts.")

	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	y := Load(Param("y").Base(), GP64())
	n := Load(Param("rowsX"), GP64())
	ldx := Load(Param("ldx"), GP64())
	k := GP64()
	MOVQ(Mem{Base: ptr}, k)
	idx, val, end := entries(p, k)
	p.SetMask(Load(Param("last"), GP64()))
	alpha, beta := p.Reg(), p.Reg()
	p.Broadcast(lanes.Arg("alpha"), alpha)
	p.Broadcast(lanes.Arg("beta"), beta)
	readsY := GP64() // 0 for beta = 0 and -0
	if p.Double {
		MOVQ(lanes.Arg("beta"), readsY)
		ADDQ(readsY, readsY)
	} else {
		MOVL(lanes.Arg("beta"), readsY.As32())
		ADDL(readsY.As32(), readsY.As32())
	}
	r := GP64()
	MOVQ(U32(1), r)

	for v := 1; v < maxVectors; v++ {
		CMPQ(lanes.Arg("vectors"), Imm(uint64(v)))
		JEQ(LabelRef(label("row", v)))
	}
	for v := maxVectors; v > 0; v-- {
		sums := [2][]VecVirtual{}
		for i := range 2 * v {
			sums[i%2] = append(sums[i%2], p.Reg())
		}
		fma := func(j int, m Mem, f, acc VecVirtual) {
			if j == v-1 {
				p.FMAPart(m, f, acc)
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
		// ask brings the rows of x of two later entries to the caches.
		ask := func(v int) {
			far := farBytes / max(v*p.Bytes(), 64)
			g := GP64()
			LEAQ(Mem{Base: k, Disp: far + 1}, g)
			CMPQ(g, lanes.Arg("asks"))
			JGE(LabelRef(label("asked", v)))
			for i := range 2 {
				for _, to := range []struct {
					ahead    int
					prefetch func(Op)
				}{{far, PREFETCHT1}, {near, PREFETCHT0}} {
					g := GP64()
					MOVL(Mem{Base: idx, Index: k, Scale: 4, Disp: 4 * (to.ahead + i)}, g.As32())
					IMULQ(ldx, g)
					for j := 0; j < v*p.Bytes(); j += 64 {
						to.prefetch(Mem{Base: x, Index: g, Scale: 1, Disp: j})
					}
				}
			}
			Label(label("asked", v))
		}
		at := func(j int) Mem { return Mem{Base: y, Disp: j * p.Bytes()} }

		Label(label("row", v))
		CMPQ(r, lenOf("ptr"))
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
		ask(v)
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
			p.Add(sums[1][j], a, a)
			p.Mul(alpha, a, a)
		}
		TESTQ(readsY, readsY)
		JZ(LabelRef(label("overwrite", v)))
		for j, a := range sums[0] {
			fma(j, at(j), beta, a)
		}
		Label(label("overwrite", v))
		CMPB(lanes.Arg("stream"), Imm(0))
		JNE(LabelRef(label("stream", v)))
		for j, a := range sums[0] {
			if j == v-1 {
				p.StorePart(a, at(j))
			} else {
				p.Store(a, at(j))
			}
		}
		Label(label("next", v))
		INCQ(r)
		ADDQ(lanes.Arg("ldy"), y)
		JMP(LabelRef(label("row", v)))
		Label(label("stream", v))
		for j, a := range sums[0] {
			p.Stream(a, at(j))
		}
		JMP(LabelRef(label("next", v)))
	}
	Label("out")
	DECQ(r)
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// lenOf is where the length of a slice lies.
func lenOf(slice string) Mem {
	c, err := Param(slice).Len().Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// baseOf is where the address of a slice lies.
func baseOf(slice string) Mem {
	c, err := Param(slice).Base().Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// label numbers a label.
func label(name string, i int) string { return fmt.Sprintf("%s%d", name, i) }

// entries is bases with which entry k lies at idx+4k and val+size*k, and the end of all, k and
// it as ptr counts; k is the first.
func entries(p lanes.Part, k Register) (idx, val, end Register) {
	idx = Load(Param("idx").Base(), GP64())
	val = Load(Param("val").Base(), GP64())
	t := GP64()
	MOVQ(k, t)
	SHLQ(Imm(2), t)
	SUBQ(t, idx)
	if p.Double {
		SHLQ(Imm(1), t)
	}
	SUBQ(t, val)
	end = Load(Param("idx").Len(), GP64())
	ADDQ(k, end)
	return idx, val, end
}
