package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// dots generates the sums A'x for up to side columns of A. The last rows do not fill a register.
func (s shape) dots() {
	s.Func("dots"+s.Suffix(), "func(a *dotsArgs[V])", "computes sums = A'x: see dotsArgs.")
	a := lanes.Args("k", "n", "a", "lda", "x", "sums")
	dispatch("columns", a.Load("n"), 1)
	for n := side; n > 0; n-- {
		name := fmt.Sprintf("columns%d", n)
		Label(name)
		left, x := a.Load("k").(GPVirtual), a.Load("x")
		ofA := newColumns(a.Load("a"), "lda", n)
		var sums []VecVirtual
		for range n {
			v := s.Reg()
			s.Zero(v)
			sums = append(sums, v)
		}
		SUBQ(Imm(uint64(s.Count())), left)
		JL(LabelRef(name + "Rest"))
		Label(name + "Rows")
		v, bytes := s.Reg(), GP64()
		s.Load(Mem{Base: x}, v)
		for j, sum := range sums {
			s.FMA(ofA.at(j, 0), v, sum)
		}
		MOVQ(U32(uint32(s.Bytes())), bytes)
		ADDQ(bytes, x)
		ofA.move(bytes)
		SUBQ(Imm(uint64(s.Count())), left)
		JGE(LabelRef(name + "Rows"))
		Label(name + "Rest")
		ADDQ(Imm(uint64(s.Count())), left)
		JZ(LabelRef(name + "Sums"))
		s.SetMask(left)
		v = s.Reg()
		s.LoadPart(Mem{Base: x}, v)
		for j, sum := range sums {
			s.FMAPart(ofA.at(j, 0), v, sum)
		}
		Label(name + "Sums")
		s.storeSums(sums, a.Load("sums"))
		JMP(LabelRef("end"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// storeSums adds the lanes of each register and stores the sums: the halves of 512 bits first.
func (s shape) storeSums(sums []VecVirtual, to Register) {
	short := lanes.Lanes{Double: s.Double}
	var halves []VecVirtual
	for _, v := range sums {
		if s.Long {
			high := YMM()
			VEXTRACTF64X4(Imm(1), v, high)
			v = v.AsY().(VecVirtual)
			short.Add(high, v, v)
		}
		halves = append(halves, v)
	}
	for j := 0; j < len(halves); j += 4 {
		short.StoreSums(halves[j:min(len(halves), j+4)], Mem{Base: to, Disp: j * s.Size()})
	}
}
