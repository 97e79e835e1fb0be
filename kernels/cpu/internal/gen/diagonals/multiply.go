package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// inFlight is the number of slices that are multiplied together if there is one value per diagonal.
// Otherwise it is one, so that values are read sequentially, or two with few columns.
const inFlight = 4

// unrolled is the number of columns without a branch between them.
const unrolled = 4

// manySlices is the least number of slices of few columns that pay for a loop of their own.
const manySlices = 6

// lanesOf describes the slices of a run.
type lanesOf int

const (
	whole  lanesOf = iota
	masked         // some lanes have no entry
	ends           // some lanes have no entry, and their elements of x may not exist
)

// multiply generates a kernel. Instead of lanes.Same it has one value per diagonal, which includes
// the case that all values are equal.
func multiply(l lanes.Lanes, values lanes.Values) {
	perDiagonal := values.Name == lanes.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	name := "diagonals" + values.Name + l.Suffix()
	l.Func(name, "func(a *diagonalArgs[V])",
		"computes runGeneric for successive runs, with the storage, the type and the level in its name:",
		"",
		"\tfor every slice of a.count runs from a.runs on, with its row, its offsets and its masks:",
		"\t\tfor c, o := range offsets {",
		"\t\t\tsums[lane] += val[c*lanes+lane] * a.x[row+o+lane]  if lane is in the mask of column c",
		"\t\t}",
		"\t\ta.y[lane] = fma(a.beta, a.y[lane], a.alpha*sums[lane])",
		"",
		"PerDiagonal has the value of column c in a.table.")

	a := lanes.Args("runs", "count", "offsets", "masks", "val", "x", "last", "row", "table", "y", "stream", "prefetch", "alpha", "beta")
	k := begin(a, l, values, perDiagonal)
	Label("run")
	k.run()
	MOVQ(Mem{Base: k.at, Disp: lanes.RunSlices}, k.n)
	CMPB(Mem{Base: k.at, Disp: lanes.RunEnds}, Imm(0))
	JNE(LabelRef("ends"))
	CMPB(Mem{Base: k.at, Disp: lanes.RunMasked}, Imm(0))
	JNE(LabelRef("masked"))
	switch {
	case perDiagonal:
		k.slices("four", "one", inFlight, whole)
	case values.Name == lanes.Full.Name:
		k.few()
	}
	k.slices("one", "next", 1, whole)
	k.slices("masked", "next", 1, masked)
	k.slices("ends", "next", 1, ends)
	Label("next")
	ADDQ(Imm(lanes.RunBytes), lanes.Arg("runs"))
	DECQ(lanes.Arg("count"))
	JNZ(LabelRef("run"))
	VZEROUPPER()
	RET()
}

// kernel has the arguments and the state of a kernel.
type kernel struct {
	lanes.Lanes
	perDiagonal       bool
	bytes             int          // bytes of the values of a column
	column            func(Mem) Op // loads the values of a column
	n, offsets, width Register     // for a run
	masks, val, x, y  Register
	table             Register
	alpha, beta, nan  VecVirtual
	mask              *lanes.Mask
	acc               []VecVirtual
	j, at             Register // the column, and the position of its elements of x, relative to x, in elements

	// first is the first column of a slice if its number of columns is rounded up to a multiple of
	// unrolled: 0 or negative. early is the bytes of the values of the columns that do not exist.
	first, early Register
}

// begin loads the arguments.
func begin(a *lanes.Arguments, l lanes.Lanes, values lanes.Values, perDiagonal bool) *kernel {
	k := &kernel{Lanes: l, perDiagonal: perDiagonal, n: GP64(), offsets: GP64(), width: GP64(), j: GP64(), at: GP64(), first: GP64(), early: GP64()}
	k.masks = a.Load("masks")
	k.val = a.Load("val")
	k.x = a.Load("x")
	row := a.Load("row")
	k.table = a.Load("table")
	k.y = a.Load("y")
	LEAQ(Mem{Base: k.x, Index: row, Scale: uint8(l.Size())}, k.x)
	k.bytes = values.Bytes(l)
	k.alpha, k.beta = l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("alpha"), k.alpha)
	l.Broadcast(lanes.Arg("beta"), k.beta)
	if !perDiagonal {
		k.column = values.Begin(l, k.table)
	}
	k.mask, k.nan = l.NewMask(), l.NaN()
	k.acc = make([]VecVirtual, inFlight)
	for i := range k.acc {
		k.acc[i] = l.Reg()
	}
	return k
}

// run loads the data of a run; at points to it.
func (k *kernel) run() {
	MOVQ(lanes.Arg("runs"), k.at)
	MOVQ(Mem{Base: k.at, Disp: lanes.RunWidth}, k.width)
	MOVQ(Mem{Base: k.at, Disp: lanes.RunPattern}, k.j)
	MOVQ(lanes.Arg("offsets"), k.offsets)
	LEAQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, k.offsets)
	if k.perDiagonal {
		MOVQ(lanes.Arg("table"), k.table)
		LEAQ(Mem{Base: k.table, Index: k.j, Scale: uint8(k.Size())}, k.table)
	}
	MOVQ(k.width, k.first)
	NEGQ(k.first)
	ANDQ(Imm(unrolled-1), k.first)
	IMUL3Q(Imm(uint64(k.bytes)), k.first, k.early)
	NEGQ(k.first)
}

// few multiplies slices of few columns two at a time, with a loop for each number of columns that
// keeps the offsets in registers. The remaining slices are left to slices.
func (k *kernel) few() {
	offsets := []Register{k.j, k.at, k.first, k.early, k.width, GP64(), k.offsets} // loaded from the last one
	CMPQ(k.n, Imm(manySlices))
	JL(LabelRef("one"))
	for width := 1; width <= len(offsets); width++ {
		name, other := fmt.Sprintf("few%d", width), fmt.Sprintf("not%d", width)
		CMPQ(k.width, Imm(uint64(width)))
		JNE(LabelRef(other))
		for i, o := range offsets[:width] {
			MOVQ(Mem{Base: k.offsets, Disp: 8 * i}, o)
		}
		Label(name)
		for s := range 2 {
			k.Zero(k.acc[s])
			for i, o := range offsets[:width] {
				v, from := k.Reg(), Mem{Base: k.val, Disp: (s*width + i) * k.bytes}
				k.Load(Mem{Base: k.x, Index: o, Scale: uint8(k.Size()), Disp: s * k.Bytes()}, v)
				k.FMA(k.column(from), v, k.acc[s])
			}
		}
		k.prefetch(name, 2*width)
		ADDQ(U32(2*width*k.bytes), k.val)
		k.finish(name, 2)
		CMPQ(k.n, Imm(2))
		JGE(LabelRef(name))
		JMP(LabelRef("left"))
		Label(other)
	}
	JMP(LabelRef("one"))
	Label("left")
	k.run()
}

// slices multiplies slices of a run, count at a time, while there are as many, and then jumps to
// rest.
func (k *kernel) slices(name, rest string, count int, have lanesOf) {
	Label(name)
	CMPQ(k.n, Imm(uint64(count)))
	JL(LabelRef(rest))
	Label(name + "Slice")
	for i := range count {
		k.Zero(k.acc[i])
	}
	CMPQ(k.first, k.width) // 0 if there are no columns
	JGE(LabelRef(name + "Sums"))
	perTurn := unrolled
	if have == ends { // few
		perTurn = 1
		XORQ(k.j, k.j)
	} else {
		if k.bytes > 0 {
			SUBQ(k.early, k.val)
		}
		MOVQ(k.first, k.j)
		k.enter(name, 0, unrolled)
	}
	for i := range perTurn {
		Label(fmt.Sprintf("%sColumn%d", name, i))
		k.products(i, count, have)
	}
	k.prefetch(name, perTurn)
	if k.bytes > 0 {
		ADDQ(U32(perTurn*k.bytes), k.val)
	}
	ADDQ(Imm(uint64(perTurn)), k.j)
	CMPQ(k.j, k.width)
	JL(LabelRef(name + "Column0"))
	if have != whole {
		LEAQ(Mem{Base: k.masks, Index: k.width, Scale: 2}, k.masks)
	}
	Label(name + "Sums")
	k.finish(name, count)
	CMPQ(k.n, Imm(uint64(count)))
	JGE(LabelRef(name + "Slice"))
	JMP(LabelRef(rest))
}

// enter jumps to the first column that exists, one of lo <= i < hi.
func (k *kernel) enter(name string, lo, hi int) {
	if hi-lo == 1 {
		JMP(LabelRef(fmt.Sprintf("%sColumn%d", name, lo)))
		return
	}
	mid := (lo + hi) / 2
	upper := fmt.Sprintf("%sFrom%d", name, mid)
	CMPQ(k.first, I8(-mid))
	JLE(LabelRef(upper))
	k.enter(name, lo, mid)
	Label(upper)
	k.enter(name, mid, hi)
}

// products adds the products of column j+i.
func (k *kernel) products(i, count int, have lanesOf) {
	fma := k.FMA
	MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8, Disp: 8 * i}, k.at)
	if have != whole {
		k.mask.Load(Mem{Base: k.masks, Index: k.j, Scale: 2, Disp: 2 * i})
		fma = k.mask.FMA
	}
	var c VecVirtual
	if k.perDiagonal {
		c = k.Reg()
		k.Broadcast(Mem{Base: k.table, Index: k.j, Scale: uint8(k.Size()), Disp: i * k.Size()}, c)
	}
	for s := range count {
		x := Mem{Base: k.x, Index: k.at, Scale: uint8(k.Size()), Disp: s * k.Bytes()}
		from := Mem{Base: k.val, Disp: i * k.bytes}
		v := k.Reg()
		switch {
		case have == ends:
			k.inside(x, v)
		case !k.perDiagonal:
			k.Load(x, v)
		}
		switch {
		case !k.perDiagonal:
			fma(k.column(from), v, k.acc[s])
		case have == ends:
			fma(v, c, k.acc[s])
		default:
			fma(x, c, k.acc[s])
		}
	}
}

// inside loads the lanes that are in x; the others get any elements of x. It loads a register in x
// and rotates it, because a masked load of a page that does not exist takes hundreds of cycles.
func (k *kernel) inside(x Mem, v VecVirtual) {
	at := GP64()
	LEAQ(x, k.at)
	MOVQ(k.at, at)
	CMPQ(at, lanes.Arg("x"))
	CMOVQCS(lanes.Arg("x"), at)
	CMPQ(at, lanes.Arg("last"))
	CMOVQHI(lanes.Arg("last"), at)
	SUBQ(at, k.at)
	k.Load(Mem{Base: at}, v)
	k.Rotate(k.at, v)
}

// prefetch prefetches the values of columns columns, aheadBytes later, if a column takes half a
// line or more. A branch skips it if the argument prefetch is 0, because loads limit kernels of
// cached matrices.
func (k *kernel) prefetch(name string, columns int) {
	if k.bytes < 32 {
		return
	}
	CMPQ(lanes.Arg("prefetch"), Imm(0))
	JE(LabelRef(name + "Prefetched"))
	for at := 0; at < columns*k.bytes; at += 64 {
		PREFETCHT0(Mem{Base: k.val, Disp: at + aheadBytes})
	}
	Label(name + "Prefetched")
}

// finish stores count slices and moves past them.
func (k *kernel) finish(name string, count int) {
	for i := range count {
		k.Mul(k.alpha, k.acc[i], k.acc[i])
	}
	k.IsZero(lanes.Arg("beta"))
	JE(LabelRef(name + "Quiet"))
	for i := range count {
		k.FMA(Mem{Base: k.y, Disp: i * k.Bytes()}, k.beta, k.acc[i])
	}
	Label(name + "Quiet")
	for i := range count {
		k.Quiet(k.nan, k.acc[i])
	}
	CMPQ(lanes.Arg("stream"), Imm(0))
	JE(LabelRef(name + "Store"))
	for i := range count {
		k.Stream(k.acc[i], Mem{Base: k.y, Disp: i * k.Bytes()})
	}
	JMP(LabelRef(name + "Stored"))
	Label(name + "Store")
	for i := range count {
		k.Store(k.acc[i], Mem{Base: k.y, Disp: i * k.Bytes()})
	}
	Label(name + "Stored")
	ADDQ(U32(count*k.Bytes()), k.y)
	ADDQ(U32(count*k.Bytes()), k.x)
	SUBQ(Imm(uint64(count)), k.n)
}
