// Command diagonals generates the kernels of diagonals: one row of the matrix per
// lane, all with entries in the same places beside the main diagonal, so that what
// the lanes need of x lies side by side.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineShifts()
	for _, l := range lanes.All() {
		for _, v := range lanes.ValuesOf(l) {
			diagonals(l, v)
		}
	}
	Generate()
}

// inFlight is how many slices are multiplied at a time where there is one value for
// each diagonal. Else it is one, so that values are read in one go, or two narrow ones.
const inFlight = 4

// mostNarrow is the most columns of slices that are multiplied two at a time where each entry has a
// value of its own and slices are half as high: their values are then read nearly in one go, and what
// each slice takes beside its columns is much. With 27 columns it takes twice as long.
const mostNarrow = 8

// aheadBytes is how far ahead values are asked for: on Zen 5 the processor alone does not keep up with
// memory beside the loads of x; on Zen 4 asking changes little.
const aheadBytes = 4096

// diagonals generates a kernel. In place of lanes.Same it has one value for each
// diagonal: what is the same for all is that as well.
func diagonals(l lanes.Lanes, values lanes.Values) {
	perDiagonal := values.Name == lanes.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	name := "diagonals" + values.Name + l.Suffix()
	l.Func(name, "func(n int, offsets *int64, width int, masks *uint16, val *byte, x *V, row int, table, y *V, alpha, beta V, stream int)",
		"is runGeneric for the case in its name.")

	k := begin(l, values, perDiagonal)
	TESTQ(k.masks, k.masks)
	JNZ(LabelRef("masked"))
	if perDiagonal {
		k.four()
	} else if values.Name == lanes.Full.Name && l.Bytes() == 32 {
		k.twoNarrow()
	}
	k.one()
	k.masked()
	Label("done")
	VZEROUPPER()
	RET()
}

// kernel is where the arguments and the state of a kernel are.
type kernel struct {
	lanes.Lanes
	perDiagonal      bool
	bytes            int          // of the values of a column
	column           func(Mem) Op // opens the values of a column
	n, offsets       Register
	width            Register
	masks, val, x, y Register
	table            Register
	alpha, beta, nan VecVirtual
	mask             *lanes.Mask
	acc              []VecVirtual
	j, at            GPVirtual // the column, and its x
}

// begin loads the arguments.
func begin(l lanes.Lanes, values lanes.Values, perDiagonal bool) *kernel {
	k := &kernel{Lanes: l, perDiagonal: perDiagonal}
	k.n = Load(Param("n"), GP64())
	k.offsets = Load(Param("offsets"), GP64())
	k.width = Load(Param("width"), GP64())
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	row := Load(Param("row"), GP64())
	k.table = Load(Param("table"), GP64())
	k.y = Load(Param("y"), GP64())
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
	k.j, k.at = GP64(), GP64()
	return k
}

// four multiplies slices as long as there are inFlight of them.
func (k *kernel) four() {
	Label("four")
	CMPQ(k.n, Imm(inFlight))
	JL(LabelRef("one"))
	k.open(inFlight)
	Label("fourColumn")
	k.place()
	c := k.coefficient()
	for i := range inFlight {
		k.FMA(Mem{Base: k.at, Disp: i * k.Bytes()}, c, k.acc[i])
	}
	k.next("fourColumn")
	k.finish("four", inFlight)
	JMP(LabelRef("four"))
}

// twoNarrow multiplies slices of few columns as long as there are two of them.
func (k *kernel) twoNarrow() {
	CMPQ(k.width, Imm(mostNarrow))
	JG(LabelRef("one"))
	slice := GP64() // bytes of the values of a slice
	IMUL3Q(Imm(uint64(k.bytes)), k.width, slice)
	Label("two")
	CMPQ(k.n, Imm(2))
	JL(LabelRef("one"))
	k.open(2)
	Label("twoColumn")
	k.place()
	for i, from := range []Mem{{Base: k.val}, {Base: k.val, Index: slice, Scale: 1}} {
		v := k.Reg()
		k.Load(Mem{Base: k.at, Disp: i * k.Bytes()}, v)
		k.ask(from)
		k.FMA(k.column(from), v, k.acc[i])
	}
	k.next("twoColumn")
	ADDQ(slice, k.val)
	k.finish("two", 2)
	JMP(LabelRef("two"))
}

// one multiplies the other slices, one at a time.
func (k *kernel) one() {
	Label("one")
	TESTQ(k.n, k.n)
	JZ(LabelRef("done"))
	k.open(1)
	Label("oneColumn")
	k.place()
	if k.perDiagonal {
		k.FMA(Mem{Base: k.at}, k.coefficient(), k.acc[0])
	} else {
		v := k.Reg()
		k.Load(Mem{Base: k.at}, v)
		k.ask(Mem{Base: k.val})
		k.FMA(k.column(Mem{Base: k.val}), v, k.acc[0])
	}
	k.next("oneColumn")
	k.finish("one", 1)
	JMP(LabelRef("one"))
}

// masked multiplies slices with missing entries.
func (k *kernel) masked() {
	Label("masked")
	TESTQ(k.n, k.n)
	JZ(LabelRef("done"))
	k.open(1)
	Label("maskedColumn")
	k.place()
	k.mask.Load(Mem{Base: k.masks})
	ADDQ(Imm(2), k.masks)
	v := k.Reg()
	k.mask.LoadLanes(Mem{Base: k.at}, v)
	if k.perDiagonal {
		k.mask.FMA(k.coefficient(), v, k.acc[0])
	} else {
		k.ask(Mem{Base: k.val})
		k.mask.FMA(k.column(Mem{Base: k.val}), v, k.acc[0])
	}
	k.next("maskedColumn")
	k.finish("masked", 1)
	JMP(LabelRef("masked"))
}

// open starts the columns of some slices.
func (k *kernel) open(count int) {
	for i := range count {
		k.Zero(k.acc[i])
	}
	XORQ(k.j, k.j)
}

// place finds x for column j.
func (k *kernel) place() {
	MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, k.at)
	LEAQ(Mem{Base: k.x, Index: k.at, Scale: uint8(k.Size())}, k.at)
}

// ask asks for values that are as far ahead, where a column takes half a line or more: not 16 times each.
func (k *kernel) ask(at Mem) {
	if k.bytes >= 32 {
		PREFETCHT0(at.Offset(aheadBytes))
	}
}

// coefficient is the value of column j where it has one for all.
func (k *kernel) coefficient() VecVirtual {
	c := k.Reg()
	k.Broadcast(Mem{Base: k.table, Index: k.j, Scale: uint8(k.Size())}, c)
	return c
}

// next goes to the next column.
func (k *kernel) next(label string) {
	if k.bytes > 0 {
		ADDQ(Imm(uint64(k.bytes)), k.val)
	}
	INCQ(k.j)
	CMPQ(k.j, k.width)
	JL(LabelRef(label))
}

// finish stores some slices and goes behind them.
func (k *kernel) finish(name string, count int) {
	for i := range count {
		k.Mul(k.alpha, k.acc[i], k.acc[i])
	}
	k.IsZero(lanes.Arg("beta"))
	JE(LabelRef(name + "Zero"))
	for i := range count {
		k.FMA(Mem{Base: k.y, Disp: i * k.Bytes()}, k.beta, k.acc[i])
		k.Quiet(k.nan, k.acc[i])
	}
	JMP(LabelRef(name + "Store"))
	Label(name + "Zero")
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
