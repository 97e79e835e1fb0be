package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// markedShift is log2 of simd.MarkedRows.
const markedShift = 10

// manyTransposed generates the kernel of RowsTransposedMany for up to a cache line of columns, in vectors
// registers. x may fill the last one in part, but results may not: loading what was stored under a
// mask makes the processor wait.
func manyTransposed(p lanes.Part) {
	const line = 64
	name := "rowsTransposedMany" + p.Suffix()
	p.Func(name, "func(a *manyTransposedArgs[V])",
		"computes RowsTransposedMany up to the first entry without a place, to which it sets a.from, or to the end of idx:",
		"",
		"\tfor r := range a.pointers - 1 {",
		"\t\tfor ; a.from < a.ptr[r+1]; a.from++ {",
		"\t\t\tk := a.from - a.ptr[0]",
		"\t\t\tto, ok := place(a.idx[k]) // a row of a.y or of a.spill",
		"\t\t\tif !ok {",
		"\t\t\t\treturn",
		"\t\t\t}",
		"\t\t\tfor j := range to {",
		"\t\t\t\tto[j] += a.val[k] * (a.alpha * a.x[r][j])",
		"\t\t\t}",
		"\t\t}",
		"\t}")

	s := beginManyTransposed(p)
	for v := line / p.Bytes(); v > 0; v-- {
		name := fmt.Sprint(v)
		if v > 1 {
			CMPQ(s.kept["vectors"], Imm(uint64(v)))
			JNE(LabelRef("not" + name))
		}
		s.rows(name, v)
		if v > 1 {
			Label("not" + name)
		}
	}
	Label("out")
	MOVQ(s.k, lanes.Arg("from"))
	VZEROUPPER()
	RET()
}

// manyTransposer has the arguments and the state of a kernel.
type manyTransposer struct {
	lanes.Part
	kept             map[string]Mem // arguments that the loops read from memory
	ptr, x, y        Register
	k                GPVirtual // next entry
	idx, val, end    Register  // as Entries and end return them
	r                GPVirtual // index in ptr of the end of the next row
	ldy, first, done Register
	factors          []VecVirtual // row of x times alpha
}

// beginManyTransposed loads the arguments.
func beginManyTransposed(p lanes.Part) *manyTransposer {
	s := &manyTransposer{Part: p}
	a := lanes.Args("from", "ptr", "pointers", "idx", "entries", "val", "x", "ldx", "y", "ldy", "spill", "lds", "marks", "rows",
		"first", "done", "open", "vectors", "last", "prefetchEnd", "alpha")
	s.kept = map[string]Mem{}
	for _, name := range []string{"pointers", "ldx", "spill", "lds", "marks", "rows", "open", "vectors", "prefetchEnd", "alpha"} {
		s.kept[name] = keep(a, name)
	}
	s.ptr, s.x, s.y = a.Load("ptr"), a.Load("x"), a.Load("y")
	s.k = GP64()
	MOVQ(Mem{Base: s.ptr}, s.k)
	s.idx, s.val = p.Entries(a, s.k)
	s.end = end(a, s.k)
	MOVQ(a.Mem("from"), s.k)
	s.SetMask(a.Load("last"))
	s.r = GP64()
	MOVQ(U32(1), s.r)
	s.ldy, s.first, s.done = a.Load("ldy"), a.Load("first"), a.Load("done")
	a.Release()
	return s
}

// number returns the row of the result of entry k+ahead.
func (s *manyTransposer) number(ahead int) GPVirtual {
	g := GP64()
	MOVL(Mem{Base: s.idx, Index: s.k, Scale: 4, Disp: 4 * ahead}, g.As32())
	return g
}

// spilled returns the address of row g in spill.
func (s *manyTransposer) spilled(g GPVirtual) GPVirtual {
	at := GP64()
	MOVQ(s.kept["lds"], at)
	IMULQ(g, at)
	ADDQ(s.kept["spill"], at)
	return at
}

// place returns the address of row g, in y or in spill. g is overwritten. It has no branch, because
// it would be unpredictable for prefetching.
func (s *manyTransposer) place(g GPVirtual) GPVirtual {
	own := GP64()
	MOVQ(g, own)
	SUBQ(s.first, own)
	at := s.spilled(g)
	MOVQ(s.ldy, g)
	IMULQ(own, g)
	ADDQ(s.y, g)
	CMPQ(own, s.done)
	CMOVQCS(g, at)
	return at
}

// rows generates the loop over all entries with v registers.
func (s *manyTransposer) rows(name string, v int) {
	stop := GP64()
	s.factors = make([]VecVirtual, v)
	for j := range s.factors {
		s.factors[j] = s.Reg()
	}
	Label("row" + name)
	CMPQ(s.r, s.kept["pointers"])
	JGE(LabelRef("out"))
	MOVQ(Mem{Base: s.ptr, Index: s.r, Scale: 8}, stop)
	CMPQ(stop, s.end)
	CMOVQGT(s.end, stop)
	CMPQ(s.k, stop)
	JGE(LabelRef("next" + name))
	for j, f := range s.factors {
		if m := (Mem{Base: s.x, Disp: j * s.Bytes()}); j == v-1 {
			s.LoadPart(m, f)
		} else {
			s.Load(m, f)
		}
		a := s.Reg()
		s.Broadcast(s.kept["alpha"], a)
		s.Mul(a, f, f)
	}
	Label("entry" + name)
	t := GP64()
	LEAQ(Mem{Base: s.k, Disp: transposedFar}, t)
	CMPQ(t, s.kept["prefetchEnd"])
	JGE(LabelRef("prefetched" + name))
	PREFETCHT1(Mem{Base: s.place(s.number(transposedFar))})
	PREFETCHT0(Mem{Base: s.place(s.number(transposedNear))})
	Label("prefetched" + name)
	g, own := s.number(0), GP64()
	MOVQ(g, own)
	SUBQ(s.first, own)
	CMPQ(own, s.done)
	JCC(LabelRef("spill" + name))
	IMULQ(s.ldy, own)
	ADDQ(s.y, own)
	s.add(own)
	Label("added" + name)
	INCQ(s.k)
	CMPQ(s.k, stop)
	JLT(LabelRef("entry" + name))
	Label("next" + name)
	INCQ(s.r)
	ADDQ(s.kept["ldx"], s.x)
	JMP(LabelRef("row" + name))
	s.spill(name)
}

// add adds the products of an entry to a row of the result.
func (s *manyTransposer) add(at GPVirtual) {
	b := s.Reg()
	s.Broadcast(Mem{Base: s.val, Index: s.k, Scale: uint8(s.Size())}, b)
	for j, f := range s.factors {
		m, sum := Mem{Base: at, Disp: j * s.Bytes()}, s.Reg()
		s.Load(m, sum)
		s.FMA(f, b, sum)
		s.Store(sum, m)
	}
}

// spill generates the code for an entry of a row that is not ready in y.
func (s *manyTransposer) spill(name string) {
	Label("spill" + name)
	g, own := s.number(0), GP64()
	CMPQ(g, s.kept["rows"])
	JAE(LabelRef("out"))
	MOVQ(g, own)
	SUBQ(s.first, own)
	SUBQ(s.done, own)
	CMPQ(own, s.kept["open"])
	JCS(LabelRef("out"))
	at := s.spilled(g)
	SHRQ(Imm(markedShift), g)
	ADDQ(s.kept["marks"], g)
	MOVB(Imm(1), Mem{Base: g})
	s.add(at)
	JMP(LabelRef("added" + name))
}
