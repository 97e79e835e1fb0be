package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// order generates the kernel of PermuteRows.
func order(p lanes.Part) {
	name := "permuteRows" + p.Suffix()
	p.Func(name, "func(n int, order *int32, x *V, ldx int, to *V, ldt, full, last int)",
		"computes PermuteRows for n > 0 rows of full whole registers and last elements of one more, which is written whole:",
		"",
		"\tfor i := range n {",
		"\t\tto[i] = x[order[i]]",
		"\t}",
		"",
		"Rows are ldx and ldt bytes apart.")
	n := Load(Param("n"), GP64())
	places := Load(Param("order"), GP64())
	x := Load(Param("x"), GP64())
	ldx := Load(Param("ldx"), GP64())
	to := Load(Param("to"), GP64())
	ldt := Load(Param("ldt"), GP64())
	p.SetMask(Load(Param("last"), GP64()))
	Label("row")
	from, at, left, v := GP64(), GP64(), GP64(), p.Reg()
	MOVLQSX(Mem{Base: places}, from)
	ADDQ(Imm(4), places)
	IMULQ(ldx, from)
	ADDQ(x, from)
	MOVQ(to, at)
	MOVQ(lanes.Arg("full"), left)
	JMP(LabelRef("next"))
	Label("register")
	p.Load(Mem{Base: from}, v)
	p.Store(v, Mem{Base: at})
	ADDQ(Imm(uint64(p.Bytes())), from)
	ADDQ(Imm(uint64(p.Bytes())), at)
	Label("next")
	DECQ(left)
	JGE(LabelRef("register"))
	p.LoadPart(Mem{Base: from}, v)
	p.Store(v, Mem{Base: at})
	ADDQ(ldt, to)
	DECQ(n)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
