// Command fixed generates the sums of rows of which each is added up in order.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	rows(elem{"F64", "float64", 8, VMOVSD, VFMADD231SD})
	rows(elem{"F32", "float32", 4, VMOVSS, VFMADD231SS})
	Generate()
}

// elem is what differs between float64 and float32.
type elem struct {
	name, typ string
	size      int
	move      func(...Op)
	fma       func(...Op)
}

const (
	together = 4  // long rows in hand: in each, an addition waits for the one before
	short    = 16 // entries of a row that is none of them
	// ahead is how many bytes before their use values and indices are asked for: the
	// processor's own prefetching stops at each page.
	ahead = 2048
)

// rows generates the kernel of RowSums. Short rows are added up one after the other:
// the processor is on to the next before the last additions of one are done. Of long
// rows four are in hand at a time, one entry of each in turn: as soon as one of them
// ends, the next takes its place. At the end of all rows, what is left of those in
// hand is added row by row.
//
// An index that is not below len(x), and a pointer that falls or leaves idx, end the
// call.
func rows(e elem) {
	name := "rowSums" + e.name + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(ptr []int64, idx []int32, val, x, sums []%s) bool", e.typ))
	Pragma("noescape")
	Doc(name+" is RowSums as long as indices and pointers are in range: else it is", "false, with some of the sums done.")

	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	n := Load(Param("x").Len(), GP64())
	sums := Load(Param("sums").Base(), GP64())
	// With these bases entry k lies at idx+4k and val+size*k, k as ptr counts.
	idx := Load(Param("idx").Base(), GP64())
	val := Load(Param("val").Base(), GP64())
	first, t, g := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: ptr}, first) // entry of the next row
	MOVQ(first, t)
	SHLQ(Imm(2), t)
	SUBQ(t, idx)
	if e.size == 8 {
		SHLQ(Imm(1), t)
	}
	SUBQ(t, val)
	end := AllocLocal(8)
	MOVQ(arg(Param("idx").Len()), t)
	ADDQ(first, t)
	MOVQ(t, end)
	r, next := GP64(), GP64()
	XORQ(r, r)
	MOVQ(first, next)
	steps := AllocLocal(8) // that the rows in hand have made since their rest was counted
	MOVQ(U32(0), steps)

	// A row in hand.
	type hand struct {
		acc  VecVirtual
		k    GPVirtual // its next entry
		rest Mem       // the number of those that are left
		to   Mem       // where its sum goes
	}
	nowhere := AllocLocal(8)
	LEAQ(nowhere, t)
	var hands [together]hand
	for i := range hands {
		h := hand{XMM(), GP64(), AllocLocal(8), AllocLocal(8)}
		MOVQ(U32(0), h.rest)
		MOVQ(t, h.to)
		XORQ(h.k, h.k)
		VXORPS(h.acc, h.acc, h.acc)
		hands[i] = h
	}
	// add adds entry k to a sum and goes on.
	add := func(k GPVirtual, acc VecVirtual) {
		v := XMM()
		MOVL(Mem{Base: idx, Index: k, Scale: 4}, t.As32())
		CMPQ(t, n)
		JAE(LabelRef("out"))
		e.move(Mem{Base: val, Index: k, Scale: uint8(e.size)}, v)
		e.fma(Mem{Base: x, Index: t, Scale: uint8(e.size)}, v, acc)
		INCQ(k)
	}
	ask := func(k GPVirtual) {
		PREFETCHT0(Mem{Base: val, Index: k, Scale: uint8(e.size), Disp: ahead})
		PREFETCHT0(Mem{Base: idx, Index: k, Scale: 4, Disp: ahead})
	}
	store := func(h hand) {
		MOVQ(h.to, t)
		e.move(h.acc, Mem{Base: t})
	}
	to := Mem{Base: sums, Index: r, Scale: uint8(e.size), Disp: -e.size} // of the row before r

	sum := XMM() // of a short row
	Label("rows")
	for i, h := range hands {
		label := func(name string) string { return fmt.Sprint(name, i) }
		MOVQ(steps, g)
		SUBQ(g, h.rest)
		JNZ(LabelRef(label("goes")))
		store(h)
		Label(label("more"))
		CMPQ(r, arg(Param("sums").Len()))
		JGE(LabelRef(label("end")))
		INCQ(r)
		MOVQ(Mem{Base: ptr, Index: r, Scale: 8}, g)
		CMPQ(g, end)
		JG(LabelRef("out"))
		VXORPS(sum, sum, sum)
		MOVQ(g, t)
		SUBQ(first, t)
		DECQ(t)
		CMPQ(t, Imm(short))
		JAE(LabelRef(label("other"))) // none, long, or below 0
		ask(first)
		Label(label("short"))
		add(first, sum)
		CMPQ(first, g)
		JL(LabelRef(label("short")))
		e.move(sum, to)
		JMP(LabelRef(label("more")))
		Label(label("other"))
		INCQ(t)
		JL(LabelRef("out"))
		MOVQ(first, h.k)
		MOVQ(g, first)
		e.move(sum, to)
		JZ(LabelRef(label("more")))
		MOVQ(t, h.rest)
		LEAQ(to, t)
		MOVQ(t, h.to)
		VXORPS(h.acc, h.acc, h.acc)
		Label(label("goes"))
	}
	MOVQ(hands[0].rest, g)
	for _, h := range hands[1:] {
		CMPQ(g, h.rest)
		CMOVQGT(h.rest, g)
	}
	MOVQ(g, steps)
	Label("side")
	ask(next)
	ADDQ(Imm(together), next)
	for _, h := range hands {
		add(h.k, h.acc)
	}
	DECQ(g)
	JNZ(LabelRef("side"))
	CMPQ(next, first)
	CMOVQLT(first, next)
	JMP(LabelRef("rows"))

	// No row is left to take the place of row i: those behind it have made steps that
	// are not yet counted.
	for i := range together - 1 {
		Label(fmt.Sprint("end", i))
		MOVQ(steps, g)
		SUBQ(g, hands[i+1].rest)
	}
	Label(fmt.Sprint("end", together-1))
	for i, h := range hands {
		again, done := fmt.Sprint("again", i), fmt.Sprint("done", i)
		MOVQ(h.rest, g)
		TESTQ(g, g)
		JZ(LabelRef(done))
		Label(again)
		add(h.k, h.acc)
		DECQ(g)
		JNZ(LabelRef(again))
		Label(done)
		store(h)
	}
	MOVB(Imm(1), arg(ReturnIndex(0)))
	RET()
	Label("out")
	MOVB(Imm(0), arg(ReturnIndex(0)))
	RET()
}

// arg is where a parameter lies.
func arg(c Component) Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
