package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// Rows of y are prefetched like those of x in rows.
const (
	scatterFar  = 128
	scatterNear = 16
)

// markedShift is log2 of simd.MarkedRows.
const markedShift = 10

// scatter generates the kernel of RowsTransposedMany for up to a cache line of columns, in vectors
// registers. x may fill the last one in part, but results may not: loading what was stored under a
// mask makes the processor wait.
func scatter(p lanes.Part) {
	const line = 64
	name := "rowsTransposedMany" + p.Suffix()
	p.Func(name, "func(alpha V, from int, ptr []int64, idx []int32, val, x, y, spill []V, marks []byte, ldx, ldy, lds, rows, first, done, open, vectors, last, prefetchEnd int) (end int)",
		"computes RowsTransposedMany from entry from on and returns the first entry without a place, or the end of idx:",
		"",
		"\tfor r := range len(ptr) - 1 {",
		"\t\tfor ; k < ptr[r+1]; k++ {",
		"\t\t\trow(idx[k-ptr[0]])[j] += alpha * val[k-ptr[0]] * x[r][j]",
		"\t\t}",
		"\t}",
		"",
		"row(i) is in y for first <= i < first+done, has no place for the next open rows, and otherwise is in spill, which has rows",
		"rows. A row has vectors registers, the last one of x with last elements; rows are ldx, ldy and lds bytes apart. Rows of",
		"the result are prefetched for entries k < prefetchEnd.")

	s := beginScatter(p)
	for v := line / p.Bytes(); v > 0; v-- {
		name := fmt.Sprint(v)
		if v > 1 {
			CMPQ(lanes.Arg("vectors"), Imm(uint64(v)))
			JNE(LabelRef("not" + name))
		}
		s.rows(name, v)
		if v > 1 {
			Label("not" + name)
		}
	}
	Label("out")
	Store(s.k, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// scatterer has the arguments and the state of a kernel.
type scatterer struct {
	lanes.Part
	ptr, x, y        Register
	k                GPVirtual // next entry
	idx, val, end    Register  // as Entries and end return them
	r                GPVirtual // index in ptr of the end of the next row
	ldy, first, done Register
	factors          []VecVirtual // row of x times alpha
}

// beginScatter loads the arguments.
func beginScatter(p lanes.Part) *scatterer {
	s := &scatterer{Part: p}
	s.ptr = Load(Param("ptr").Base(), GP64())
	s.x = Load(Param("x").Base(), GP64())
	s.y = Load(Param("y").Base(), GP64())
	s.k = GP64()
	MOVQ(Mem{Base: s.ptr}, s.k)
	s.idx, s.val = p.Entries(s.k)
	s.end = end(s.k)
	Load(Param("from"), s.k)
	s.SetMask(Load(Param("last"), GP64()))
	s.r = GP64()
	MOVQ(U32(1), s.r)
	s.ldy, s.first, s.done = Load(Param("ldy"), GP64()), Load(Param("first"), GP64()), Load(Param("done"), GP64())
	return s
}

// number returns the row of the result of entry k+ahead.
func (s *scatterer) number(ahead int) GPVirtual {
	g := GP64()
	MOVL(Mem{Base: s.idx, Index: s.k, Scale: 4, Disp: 4 * ahead}, g.As32())
	return g
}

// spilled returns the address of row g in spill.
func (s *scatterer) spilled(g GPVirtual) GPVirtual {
	at := GP64()
	MOVQ(lanes.Arg("lds"), at)
	IMULQ(g, at)
	ADDQ(lanes.Place(Param("spill").Base()), at)
	return at
}

// place returns the address of row g, in y or in spill. g is overwritten. It has no branch, because
// it would be unpredictable for prefetching.
func (s *scatterer) place(g GPVirtual) GPVirtual {
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
func (s *scatterer) rows(name string, v int) {
	stop := GP64()
	s.factors = make([]VecVirtual, v)
	for j := range s.factors {
		s.factors[j] = s.Reg()
	}
	Label("row" + name)
	CMPQ(s.r, lanes.Place(Param("ptr").Len()))
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
		s.Broadcast(lanes.Arg("alpha"), a)
		s.Mul(a, f, f)
	}
	Label("entry" + name)
	t := GP64()
	LEAQ(Mem{Base: s.k, Disp: scatterFar}, t)
	CMPQ(t, lanes.Arg("prefetchEnd"))
	JGE(LabelRef("prefetched" + name))
	PREFETCHT1(Mem{Base: s.place(s.number(scatterFar))})
	PREFETCHT0(Mem{Base: s.place(s.number(scatterNear))})
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
	ADDQ(lanes.Arg("ldx"), s.x)
	JMP(LabelRef("row" + name))
	s.spill(name)
}

// add adds the products of an entry to a row of the result.
func (s *scatterer) add(at GPVirtual) {
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
func (s *scatterer) spill(name string) {
	Label("spill" + name)
	g, own := s.number(0), GP64()
	CMPQ(g, lanes.Arg("rows"))
	JAE(LabelRef("out"))
	MOVQ(g, own)
	SUBQ(s.first, own)
	SUBQ(s.done, own)
	CMPQ(own, lanes.Arg("open"))
	JCS(LabelRef("out"))
	at := s.spilled(g)
	SHRQ(Imm(markedShift), g)
	ADDQ(lanes.Place(Param("marks").Base()), g)
	MOVB(Imm(1), Mem{Base: g})
	s.add(at)
	JMP(LabelRef("added" + name))
}
