package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// permute generates the kernel of PermuteRows.
func permute(p lanes.Part) {
	name := "permuteRows" + p.Suffix()
	p.Func(name, "func(a *permuteArgs[V])",
		"computes PermuteRows for at least one row:",
		"",
		"\tfor i := range a.n {",
		"\t\tcopy(a.to[i], a.x[a.order[i]])",
		"\t}")
	a := lanes.Args("n", "order", "x", "ldx", "to", "ldt", "full", "last")
	n, places, x, ldx, to, ldt := a.Load("n"), a.Load("order"), a.Load("x"), a.Load("ldx"), a.Load("to"), a.Load("ldt")
	p.SetMask(a.Load("last"))
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
