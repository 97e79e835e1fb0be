package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// expand generates the loop over n columns of values in one storage.
func expand(l lanes.Lanes, values lanes.Values) {
	name := "expand" + values.Name + l.Suffix()
	l.Func(name, "func(a *expandArgs[V])",
		"computes, for a.n > 0 columns of values in the storage of its name,",
		"",
		"\tfor k := range a.n * lanes {",
		"\t\ta.out[k] = value(a.val, k)",
		"\t}",
		"",
		"For each column it prefetches a.step bytes from a.next on to the second-level cache.")
	a := lanes.Args("n", "val", "table", "out", "next", "step")
	n := a.Load("n")
	val := a.Load("val")
	table := a.Load("table")
	out := a.Load("out")
	next := a.Load("next")
	step := a.Load("step")
	column := values.Begin(l, table)
	Label("column")
	PREFETCHT0(Mem{Base: val, Disp: 2048})
	PREFETCHT1(Mem{Base: next})
	ADDQ(step, next)
	l.Store(column(Mem{Base: val}).(VecVirtual), Mem{Base: out})
	ADDQ(Imm(uint64(values.Bytes(l))), val)
	ADDQ(Imm(uint64(l.Bytes())), out)
	DECQ(n)
	JNZ(LabelRef("column"))
	VZEROUPPER()
	RET()
	lanes.Uncompressed()
}
