package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// triangle generates the product for the lower triangle of a square tile of C with up to the columns of a shape. A column
// fits in one register.
func (s shape) triangle() {
	s.Func("triangle"+s.Suffix(), "func(a *productArgs[V])", "computes the lower triangle of C -= A*B, m = n: see productArgs. n is at most the number of columns of a tile.")
	a := lanes.Args("m", "n", "k", "a", "lda", "b", "bk", "bj", "c", "ldc")
	stripOfB = AllocLocal(8)
	MOVQ(a.Load("b"), stripOfB)
	n := a.Load("n").(GPVirtual)
	for cols := 1; cols < s.cols; cols++ {
		CMPQ(n, Imm(uint64(cols)))
		JEQ(LabelRef(fmt.Sprintf("columns%d", cols)))
	}
	for cols := s.cols; cols > 0; cols-- {
		name := fmt.Sprintf("columns%d", cols)
		Label(name)
		ofA, ofC := a.Load("a"), a.Load("c")
		rows := GP64()
		MOVQ(U32(uint32(cols)), rows)
		s.SetMask(rows)
		s.tile(name, cols, []place{s.part()}, func(j, _ int) *place { return s.from(j) }, ofA, ofC)
		JMP(LabelRef("end"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// from returns the rows of a part from row j on, or nil for all of them.
func (s shape) from(j int) *place {
	if j == 0 {
		return nil
	}
	mask := func() Register {
		rows, before := GP64(), &lanes.Part{Lanes: s.Lanes}
		MOVQ(U32(uint32(j)), rows)
		before.SetMask(rows)
		if s.Opmasks() {
			k := K()
			KANDNW(s.Mask(), before.Mask(), k)
			return k
		}
		v := s.Reg()
		VANDNPS(s.Mask(), before.Mask(), v)
		return v
	}
	return &place{
		func(m Mem, v VecVirtual) { s.LoadMasked(m, mask(), v) },
		func(m Mem, v VecVirtual) { s.StoreMasked(v, mask(), m) },
	}
}
