package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// spread generates the first pass of transposed products for values that are stored in one of the
// ways.
func spread(e elem, storage string) {
	name := "spreadBin" + e.TypeName() + storage + "AVX2"
	e.Func(name, "func(to, x *V, rows *uint16, values *byte, lines int)",
		"writes the products of so many lines of entries, at least 1, past the caches.")
	to := Load(Param("to"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, storage, Load(Param("rows"), GP64()), Load(Param("values"), GP64()))
	left := Load(Param("lines"), GP64())
	Label("line")
	entries.ask()
	for r := range line / register {
		v := entries.gather(r, x)
		e.Mul(entries.register(r), v, v)
		e.Stream(v, Mem{Base: to, Disp: register * r})
	}
	entries.advance()
	ADDQ(Imm(line), to)
	DECQ(left)
	JNZ(LabelRef("line"))
	VZEROUPPER()
	RET()
}

// productsAhead is how many lines of products before their turn are asked for.
const productsAhead = 32

// addRuns generates the second pass of transposed products. What a run reads of the products lies
// far from what the one before has read, so the runs are gone through twice: to ask for lines of
// products, and so many lines later to add them.
func addRuns(e elem) {
	name := "addBinRuns" + e.Suffix()
	e.Func(name, "func(y, products *V, columns *uint16, runs *uint32, n int, next *V, lines int, after V)",
		"adds the products of n runs, times after, to y, and asks for so many lines of",
		"64 bytes from next on, one for each line of products.")
	y := Load(Param("y"), GP64())
	products := Load(Param("products"), GP64())
	entries := newEntries(e, "", Load(Param("columns"), GP64()), nil)
	runs := Load(Param("runs"), GP64())
	end := Load(Param("n"), GP64())
	LEAQ(Mem{Base: runs, Index: end, Scale: 8}, end)
	next := Load(Param("next"), GP64())
	nextEnd := Load(Param("lines"), GP64())
	SHLQ(Imm(6), nextEnd)
	ADDQ(next, nextEnd)
	after := YMM()
	e.Broadcast(lanes.Arg("after"), after)
	later := asking{elem: e, products: products, end: end, runs: GP64(), at: GP64(), left: GP64()}
	at, left := GP64(), GP64()

	MOVQ(runs, later.runs)
	XORQ(later.left, later.left)
	MOVQ(U32(productsAhead), left)
	Label("first")
	later.ask("first")
	DECQ(left)
	JNZ(LabelRef("first"))

	Label("run")
	CMPQ(runs, end)
	JAE(LabelRef("done"))
	e.run(runs, products, 1, at, left)
	JZ(LabelRef("run"))
	Label("line")
	askNext(1, next, nextEnd)
	later.ask("later")
	entries.addLine(at, after, y)
	ADDQ(Imm(line), at)
	DECQ(left)
	JNZ(LabelRef("line"))
	JMP(LabelRef("run"))
	Label("done")
	VZEROUPPER()
	RET()
}

// addLine adds a line of products, times after, to y.
func (s *entries) addLine(products Register, after VecVirtual, y Register) {
	s.ask()
	for r := range line / register {
		v := YMM()
		s.Mul(Mem{Base: products, Disp: register * r}, after, v)
		for i, product := range s.Elements(v) {
			c := GP64()
			MOVWLZX(Mem{Base: s.numbers, Disp: 2 * (register/s.Size()*r + i)}, c.As32())
			to := Mem{Base: y, Index: c, Scale: uint8(s.Size())}
			s.AddOne(to, product, product)
			s.MoveOne(product, to)
		}
	}
	s.advance()
}

// asking is the run whose products are asked for.
type asking struct {
	elem
	products, end  Register
	runs, at, left GPVirtual // as run gives them
}

// ask asks for the next line, if there is one. The labels begin with a name.
func (a *asking) ask(name string) {
	TESTQ(a.left, a.left)
	JNZ(LabelRef(name + "Line"))
	Label(name + "Run")
	CMPQ(a.runs, a.end)
	JAE(LabelRef(name + "Asked"))
	a.run(a.runs, a.products, 1, a.at, a.left)
	JZ(LabelRef(name + "Run"))
	Label(name + "Line")
	PREFETCHT0(Mem{Base: a.at})
	ADDQ(Imm(line), a.at)
	DECQ(a.left)
	Label(name + "Asked")
}
