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
	l.Func(name, "func(n int, val *byte, table, out *V, next uintptr, step int)",
		"computes, for n > 0 columns of values in the storage of its name,",
		"",
		"\tfor k := range n * lanes {",
		"\t\tout[k] = value(k)",
		"\t}",
		"",
		"For each column it prefetches step bytes from next on to the second-level cache.")
	n := Load(Param("n"), GP64())
	val := Load(Param("val"), GP64())
	table := Load(Param("table"), GP64())
	out := Load(Param("out"), GP64())
	next := Load(Param("next"), GP64())
	step := Load(Param("step"), GP64())
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
