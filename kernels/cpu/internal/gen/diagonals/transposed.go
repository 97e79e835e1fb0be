package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// transposed generates a kernel of transposed products. Diagonals less than a register apart are a group: their products
// are summed in two registers, so that no element of y is loaded soon after a store that overlaps
// the load in part, for which the processor waits. Instead of lanes.Same it has one value per
// diagonal, which includes the case that all values are equal.
func transposed(l lanes.Lanes, values lanes.Values) {
	perDiagonal := values.Name == lanes.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	name := "diagonalsTransposed" + values.Name + l.Suffix()
	l.Func(name, "func(a *diagonalTransposedArgs[V])",
		"computes addRunGeneric for successive runs, with the storage, the type and the level in its name:",
		"",
		"\tfor every slice of a.count runs from a.runs on, with its row, its offsets and its masks:",
		"\t\tfor c, o := range offsets {",
		"\t\t\ta.y[row+o+lane] += a.alpha*a.x[lane] * val[c*lanes+lane]  if lane is in the mask of column c",
		"\t\t}",
		"",
		"PerDiagonal has the value of column c in a.table.")

	a := lanes.Args("runs", "count", "offsets", "masks", "val", "y", "last", "row", "table", "x", "alpha")
	d := beginTransposed(a, l, values, perDiagonal)
	Label("run")
	d.run()
	TESTQ(d.width, d.width)
	JZ(LabelRef("empty"))
	CMPB(Mem{Base: d.at, Disp: lanes.RunEnds}, Imm(0))
	JNE(LabelRef("ends"))
	CMPB(Mem{Base: d.at, Disp: lanes.RunMasked}, Imm(0))
	JNE(LabelRef("masked"))
	d.groups("whole", false)
	d.groups("masked", true)
	d.ends()
	Label("empty")
	MOVQ(d.n, d.at)
	IMUL3Q(Imm(uint64(l.Bytes())), d.at, d.at)
	ADDQ(d.at, d.y)
	ADDQ(d.at, d.x)
	Label("next")
	ADDQ(Imm(lanes.RunBytes), lanes.Arg("runs"))
	DECQ(lanes.Arg("count"))
	JNZ(LabelRef("run"))
	d.flush("end")
	VZEROUPPER()
	RET()
}

// transposedKernel has the arguments and the state of a kernel.
type transposedKernel struct {
	lanes.Lanes
	perDiagonal       bool
	bytes             int          // bytes of the values of a column
	column            func(Mem) Op // loads the values of a column
	n, offsets, width Register     // for a run
	masks, val, y, x  Register
	table             Register
	alpha, factors    VecVirtual // rows of x times alpha
	mask              *lanes.Mask
	shifter           *lanes.Shifter
	j, base           GPVirtual  // the column, and the first offset of its group
	at                GPVirtual  // scratch: an address in y, or the distance of two
	high              VecVirtual // pending sums
	pending           GPVirtual  // address of the pending sums in y; 0 for none
}

// beginTransposed loads the arguments.
func beginTransposed(a *lanes.Arguments, l lanes.Lanes, values lanes.Values, perDiagonal bool) *transposedKernel {
	d := &transposedKernel{Lanes: l, perDiagonal: perDiagonal, n: GP64(), offsets: GP64(), width: GP64(), j: GP64(), at: GP64(), base: GP64()}
	d.masks = a.Load("masks")
	d.val = a.Load("val")
	d.y = a.Load("y")
	row := a.Load("row")
	d.table = a.Load("table")
	d.x = a.Load("x")
	LEAQ(Mem{Base: d.y, Index: row, Scale: uint8(l.Size())}, d.y)
	d.bytes = values.Bytes(l)
	d.alpha = l.Reg()
	l.Broadcast(lanes.Arg("alpha"), d.alpha)
	if !perDiagonal {
		d.column = values.Begin(l, d.table)
	}
	d.mask, d.shifter = l.NewMask(), l.NewShifter()
	d.factors, d.high, d.pending = l.Reg(), l.Reg(), GP64()
	XORQ(d.pending, d.pending)
	return d
}

// run loads the data of a run; at points to it.
func (d *transposedKernel) run() {
	MOVQ(lanes.Arg("runs"), d.at)
	MOVQ(Mem{Base: d.at, Disp: lanes.RunSlices}, d.n)
	MOVQ(Mem{Base: d.at, Disp: lanes.RunWidth}, d.width)
	MOVQ(Mem{Base: d.at, Disp: lanes.RunPattern}, d.j)
	MOVQ(lanes.Arg("offsets"), d.offsets)
	LEAQ(Mem{Base: d.offsets, Index: d.j, Scale: 8}, d.offsets)
	if d.perDiagonal {
		MOVQ(lanes.Arg("table"), d.table)
		LEAQ(Mem{Base: d.table, Index: d.j, Scale: uint8(d.Size())}, d.table)
	}
}

// groups adds the slices of a run, group by group. Sums for the register after the first register
// of a group stay in high: in the next slice that register is usually the first one of the group.
func (d *transposedKernel) groups(name string, masked bool) {
	sum, product := d.Reg(), d.Reg()
	label := func(part string) string { return name + part }
	Label(name)
	d.open()
	Label(label("Group"))
	MOVQ(Mem{Base: d.offsets, Index: d.j, Scale: 8}, d.base)
	LEAQ(Mem{Base: d.j, Disp: 1}, d.at)
	CMPQ(d.at, d.width)
	JGE(LabelRef(label("Alone")))
	d.apart(1)
	JLE(LabelRef(label("Alone")))

	LEAQ(d.first(), d.at)
	CMPQ(d.at, d.pending)
	JE(LabelRef(label("Follows")))
	d.flush(name)
	d.Zero(d.high)
	Label(label("Follows"))
	d.Add(d.first(), d.high, sum)
	d.Zero(d.high)
	d.add(sum, masked)
	d.step(masked)
	Label(label("Near"))
	d.apart(0)
	JLE(LabelRef(label("Sums")))
	if v := d.value(masked); masked {
		d.mask.Mul(v, d.factors, product)
	} else {
		d.Mul(v, d.factors, product)
	}
	d.shifter.Add(product, d.at, sum, d.high)
	d.step(masked)
	JL(LabelRef(label("Near")))
	Label(label("Sums"))
	d.Store(sum, d.first())
	LEAQ(d.first().Offset(d.Bytes()), d.pending)
	CMPQ(d.j, d.width)
	JL(LabelRef(label("Group")))
	d.next(name)

	Label(label("Alone"))
	d.Load(d.first(), sum)
	d.add(sum, masked)
	d.Store(sum, d.first())
	d.step(masked)
	JL(LabelRef(label("Group")))
	d.next(name)
}

// first returns the register of y to which the first diagonal of a group adds.
func (d *transposedKernel) first() Mem { return Mem{Base: d.y, Index: d.base, Scale: uint8(d.Size())} }

// add adds the products of column j to sum.
func (d *transposedKernel) add(sum VecVirtual, masked bool) {
	if v := d.value(masked); masked {
		d.mask.FMA(v, d.factors, sum)
	} else {
		d.FMA(v, d.factors, sum)
	}
}

// apart sets at to the offset of the first column of the group minus that of column j+i, which is
// negative, and compares it with minus a register.
func (d *transposedKernel) apart(i int) {
	MOVQ(d.base, d.at)
	SUBQ(Mem{Base: d.offsets, Index: d.j, Scale: 8, Disp: 8 * i}, d.at)
	CMPQ(d.at, I8(-d.Count()))
}

// flush adds the pending sums to y. It overwrites the mask.
func (d *transposedKernel) flush(name string) {
	sum := d.Reg()
	TESTQ(d.pending, d.pending)
	JZ(LabelRef(name + "Flushed"))
	MOVQ(d.pending, d.at)
	SUBQ(lanes.Arg("last"), d.at)
	JA(LabelRef(name + "Last"))
	d.Add(Mem{Base: d.pending}, d.high, sum)
	d.Store(sum, Mem{Base: d.pending})
	JMP(LabelRef(name + "Flushed"))
	Label(name + "Last") // y ends in this register
	SUBQ(Imm(uint64(d.Bytes())), d.at)
	d.shifter.First(d.at, d.mask)
	d.mask.LoadLanes(Mem{Base: d.pending}, sum)
	d.Add(d.high, sum, sum)
	d.mask.StoreLanes(sum, Mem{Base: d.pending})
	Label(name + "Flushed")
}

// ends adds the slices of a run with lanes without an entry that may be outside y.
func (d *transposedKernel) ends() {
	Label("ends")
	d.open()
	Label("endsColumn")
	MOVQ(Mem{Base: d.offsets, Index: d.j, Scale: 8}, d.base)
	v, sum := d.value(true), d.Reg()
	d.mask.LoadLanes(d.first(), sum)
	d.FMA(v, d.factors, sum)
	d.mask.StoreLanes(sum, d.first())
	d.step(true)
	JL(LabelRef("endsColumn"))
	d.next("ends")
}

// open starts the columns of a slice.
func (d *transposedKernel) open() {
	d.Mul(Mem{Base: d.x}, d.alpha, d.factors)
	XORQ(d.j, d.j)
}

// value returns the value of column j. It also loads the mask.
func (d *transposedKernel) value(masked bool) Op {
	if masked {
		d.mask.Load(Mem{Base: d.masks})
	}
	if d.perDiagonal {
		c := d.Reg()
		d.Broadcast(Mem{Base: d.table, Index: d.j, Scale: uint8(d.Size())}, c)
		return c
	}
	at := Mem{Base: d.val}
	if d.bytes >= 32 {
		PREFETCHT0(at.Offset(aheadBytes))
	}
	return d.column(at)
}

// step moves to the next column and compares it with the end of the slice.
func (d *transposedKernel) step(masked bool) {
	if d.bytes > 0 {
		ADDQ(Imm(uint64(d.bytes)), d.val)
	}
	if masked {
		ADDQ(Imm(2), d.masks)
	}
	INCQ(d.j)
	CMPQ(d.j, d.width)
}

// next jumps to the next slice, or to the next run.
func (d *transposedKernel) next(slice string) {
	ADDQ(Imm(uint64(d.Bytes())), d.y)
	ADDQ(Imm(uint64(d.Bytes())), d.x)
	DECQ(d.n)
	JNZ(LabelRef(slice))
	JMP(LabelRef("next"))
}
