package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// Rows of y are asked for before their turn as those of x are in rows.
const (
	scatterFar  = 128
	scatterNear = 16
)

// markedShift is simd.MarkedRows as a shift.
const markedShift = 10

// scatter generates the kernel of ScatterMany for up to a cache line of columns, in
// vectors registers. The last one may be filled in part by x, but not by results: where
// what was stored under a mask is loaded again, the processor waits.
func scatter(p lanes.Part) {
	const line = 64
	name, size := "scatterMany"+p.Suffix(), p.Size()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(alpha %[1]s, from int, ptr []int64, idx []int32, val, x, y, spill []%[1]s, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, asks int) (end int)", p.Type()))
	Pragma("noescape")
	Doc(name+" is ScatterMany from entry from on, as ptr counts, up to the first entry that",
		"has no place yet: it gives that one, or the end of idx. vectors is registers of a row,",
		"last the elements of x in the last one; ldx, ldy and lds are bytes. y has done rows from",
		"first on, spill rows; the open rows behind those of y have no place yet. Places of",
		"entries below asks, as ptr counts, are brought to the cache.")

	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	y := Load(Param("y").Base(), GP64())
	k := GP64()
	MOVQ(Mem{Base: ptr}, k)
	idx, val, end := entries(p, k)
	Load(Param("from"), k)
	p.SetMask(Load(Param("last"), GP64()))
	r := GP64()
	MOVQ(U32(1), r)

	ldy, first, done := Load(Param("ldy"), GP64()), Load(Param("first"), GP64()), Load(Param("done"), GP64())
	// spilled is where the row that g numbers lies in spill.
	spilled := func(g GPVirtual) GPVirtual {
		at := GP64()
		MOVQ(lanes.Arg("lds"), at)
		IMULQ(g, at)
		ADDQ(baseOf("spill"), at)
		return at
	}
	// place is where the row that g numbers lies, in y or in spill. g is lost. It is chosen
	// without a branch, which no processor would foresee where rows are asked for.
	place := func(g GPVirtual) GPVirtual {
		own := GP64()
		MOVQ(g, own)
		SUBQ(first, own)
		at := spilled(g)
		MOVQ(ldy, g)
		IMULQ(own, g)
		ADDQ(y, g)
		CMPQ(own, done)
		CMOVQCS(g, at)
		return at
	}
	// loop goes through all entries with v registers.
	loop := func(name string, v int) {
		stop := GP64()
		factors := make([]VecVirtual, v)
		for j := range factors {
			factors[j] = p.Reg()
		}
		add := func(at GPVirtual) {
			b := p.Reg()
			p.Broadcast(Mem{Base: val, Index: k, Scale: uint8(size)}, b)
			for j, f := range factors {
				m, sum := Mem{Base: at, Disp: j * p.Bytes()}, p.Reg()
				p.Load(m, sum)
				p.FMA(f, b, sum)
				p.Store(sum, m)
			}
		}
		number := func(ahead int) GPVirtual {
			g := GP64()
			MOVL(Mem{Base: idx, Index: k, Scale: 4, Disp: 4 * ahead}, g.As32())
			return g
		}

		Label("row" + name)
		CMPQ(r, lenOf("ptr"))
		JGE(LabelRef("out"))
		MOVQ(Mem{Base: ptr, Index: r, Scale: 8}, stop)
		CMPQ(stop, end)
		CMOVQGT(end, stop)
		CMPQ(k, stop)
		JGE(LabelRef("next" + name))
		for j, f := range factors {
			if m := (Mem{Base: x, Disp: j * p.Bytes()}); j == v-1 {
				p.LoadPart(m, f)
			} else {
				p.Load(m, f)
			}
			a := p.Reg()
			p.Broadcast(lanes.Arg("alpha"), a)
			p.Mul(a, f, f)
		}
		Label("entry" + name)
		t := GP64()
		LEAQ(Mem{Base: k, Disp: scatterFar}, t)
		CMPQ(t, lanes.Arg("asks"))
		JGE(LabelRef("asked" + name))
		PREFETCHT1(Mem{Base: place(number(scatterFar))})
		PREFETCHT0(Mem{Base: place(number(scatterNear))})
		Label("asked" + name)
		g, own := number(0), GP64()
		MOVQ(g, own)
		SUBQ(first, own)
		CMPQ(own, done)
		JCC(LabelRef("beside" + name))
		IMULQ(ldy, own)
		ADDQ(y, own)
		add(own)
		Label("added" + name)
		INCQ(k)
		CMPQ(k, stop)
		JLT(LabelRef("entry" + name))
		Label("next" + name)
		INCQ(r)
		ADDQ(lanes.Arg("ldx"), x)
		JMP(LabelRef("row" + name))
		// A row that is not ready in y.
		Label("beside" + name)
		g, own = number(0), GP64()
		CMPQ(g, lanes.Arg("rows"))
		JAE(LabelRef("out"))
		MOVQ(g, own)
		SUBQ(first, own)
		SUBQ(done, own)
		CMPQ(own, lanes.Arg("open"))
		JCS(LabelRef("out"))
		at := spilled(g)
		SHRQ(Imm(markedShift), g)
		ADDQ(baseOf("marks"), g)
		MOVB(Imm(1), Mem{Base: g})
		add(at)
		JMP(LabelRef("added" + name))
	}
	for v := line / p.Bytes(); v > 0; v-- {
		name := fmt.Sprint(v)
		if v > 1 {
			CMPQ(lanes.Arg("vectors"), Imm(uint64(v)))
			JNE(LabelRef("not" + name))
		}
		loop(name, v)
		if v > 1 {
			Label("not" + name)
		}
	}
	Label("out")
	Store(k, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
