package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// spread generates the first pass of transposed products for one storage of values.
func spread(e elem, storage string) {
	name := "spreadBin" + e.TypeName() + storage + "AVX2"
	e.Func(name, "func(to, x *V, rows *uint16, values *byte, lines int)",
		"computes, with stores past the caches,",
		"",
		"\tfor i := range lines * lineLen {",
		"\t\tto[i] = value(i) * x[rows[i]]",
		"\t}",
		"",
		"for lines > 0.")
	to := Load(Param("to"), GP64())
	x := Load(Param("x"), GP64())
	entries := newEntries(e, storage, Load(Param("rows"), GP64()), Load(Param("values"), GP64()))
	left := Load(Param("lines"), GP64())
	Label("line")
	entries.prefetch()
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

// productsAhead is the number of lines by which products are prefetched.
const productsAhead = 32

// addRuns generates the second pass of transposed products. The products of successive runs are far
// from each other, so the runs are visited twice: to prefetch lines of products, and productsAhead
// lines later to add them.
func addRuns(e elem) {
	name := "addBinRuns" + e.Suffix()
	e.Func(name, "func(y, products *V, columns *uint16, runs *uint32, n int, next *V, lines int, after V)",
		"computes, for n successive runs,",
		"",
		"\tfor _, r := range runs { // r is the first line, then the number of entries",
		"\t\tfor i := range slots(r) { // whole lines",
		"\t\t\ty[columns[0]] += after * products[r.line*lineLen+i]",
		"\t\t\tcolumns = columns[1:]",
		"\t\t}",
		"\t}",
		"",
		"For each line it prefetches a line of 64 bytes from next on, lines in all.")
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
	later := prefetcher{elem: e, products: products, end: end, runs: GP64(), at: GP64(), left: GP64()}
	at, left := GP64(), GP64()

	MOVQ(runs, later.runs)
	XORQ(later.left, later.left)
	MOVQ(U32(productsAhead), left)
	Label("first")
	later.prefetch("first")
	DECQ(left)
	JNZ(LabelRef("first"))

	Label("run")
	CMPQ(runs, end)
	JAE(LabelRef("done"))
	e.run(runs, products, 1, at, left)
	JZ(LabelRef("run"))
	Label("line")
	prefetchNext(1, next, nextEnd)
	later.prefetch("later")
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
	s.prefetch()
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

// prefetcher is the position in the runs up to which products are prefetched.
type prefetcher struct {
	elem
	products, end  Register
	runs, at, left GPVirtual // as run returns them
}

// prefetch prefetches the next line, if there is one. Labels begin with name.
func (a *prefetcher) prefetch(name string) {
	TESTQ(a.left, a.left)
	JNZ(LabelRef(name + "Line"))
	Label(name + "Run")
	CMPQ(a.runs, a.end)
	JAE(LabelRef(name + "Prefetched"))
	a.run(a.runs, a.products, 1, a.at, a.left)
	JZ(LabelRef(name + "Run"))
	Label(name + "Line")
	PREFETCHT0(Mem{Base: a.at})
	ADDQ(Imm(line), a.at)
	DECQ(a.left)
	Label(name + "Prefetched")
}
