// Command diagonals generates the kernels of diagonals: one row of the matrix per
// lane, all with entries in the same places beside the main diagonal, so that what
// the lanes need of x lies side by side.
package main

import (
	"fmt"

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
// each diagonal. Else it is one, so that values are read in one go.
const inFlight = 4

// diagonals generates a kernel. In place of lanes.Same it has one value for each
// diagonal: what is the same for all is that as well.
func diagonals(l lanes.Lanes, values lanes.Values) {
	perDiagonal := values.Name == lanes.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	name := "diagonals" + values.Name + l.Suffix()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, offsets *int64, width int, masks *uint16, val *byte, x *%[1]s, row int, table, y *%[1]s, alpha, beta %[1]s, stream int)", l.Type()))
	Pragma("noescape")
	Doc(name + " is runGeneric for the case in its name.")

	n := Load(Param("n"), GP64())
	offsets := Load(Param("offsets"), GP64())
	width := Load(Param("width"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	x := Load(Param("x"), GP64())
	row := Load(Param("row"), GP64())
	table := Load(Param("table"), GP64())
	y := Load(Param("y"), GP64())
	LEAQ(Mem{Base: x, Index: row, Scale: uint8(l.Size())}, x)
	bytes := values.Bytes(l)
	alpha, beta := l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("alpha"), alpha)
	l.Broadcast(lanes.Arg("beta"), beta)
	var column func(Mem) Op
	if !perDiagonal {
		column = values.Begin(l, table)
	}
	mask, nan := l.NewMask(), l.NaN()
	acc := make([]VecVirtual, inFlight)
	for i := range acc {
		acc[i] = l.Reg()
	}
	j, at := GP64(), GP64()

	// begin starts the columns of some slices, place finds x for column j.
	begin := func(count int) {
		for i := range count {
			l.Zero(acc[i])
		}
		XORQ(j, j)
	}
	place := func() {
		MOVQ(Mem{Base: offsets, Index: j, Scale: 8}, at)
		LEAQ(Mem{Base: x, Index: at, Scale: uint8(l.Size())}, at)
	}
	coefficient := func() VecVirtual {
		c := l.Reg()
		l.Broadcast(Mem{Base: table, Index: j, Scale: uint8(l.Size())}, c)
		return c
	}
	// next goes to the next column.
	next := func(label string) {
		if bytes > 0 {
			ADDQ(Imm(uint64(bytes)), val)
		}
		INCQ(j)
		CMPQ(j, width)
		JL(LabelRef(label))
	}
	// finish stores some slices and goes behind them.
	finish := func(name string, count int) {
		for i := range count {
			l.Mul(alpha, acc[i], acc[i])
		}
		l.IsZero(lanes.Arg("beta"))
		JE(LabelRef(name + "Zero"))
		for i := range count {
			l.FMA(Mem{Base: y, Disp: i * l.Bytes()}, beta, acc[i])
			l.Quiet(nan, acc[i])
		}
		JMP(LabelRef(name + "Store"))
		Label(name + "Zero")
		for i := range count {
			l.Quiet(nan, acc[i])
		}
		CMPQ(lanes.Arg("stream"), Imm(0))
		JE(LabelRef(name + "Store"))
		for i := range count {
			l.Stream(acc[i], Mem{Base: y, Disp: i * l.Bytes()})
		}
		JMP(LabelRef(name + "Stored"))
		Label(name + "Store")
		for i := range count {
			l.Store(acc[i], Mem{Base: y, Disp: i * l.Bytes()})
		}
		Label(name + "Stored")
		ADDQ(U32(count*l.Bytes()), y)
		ADDQ(U32(count*l.Bytes()), x)
		SUBQ(Imm(uint64(count)), n)
	}

	TESTQ(masks, masks)
	JNZ(LabelRef("masked"))

	if perDiagonal {
		Label("four")
		CMPQ(n, Imm(inFlight))
		JL(LabelRef("one"))
		begin(inFlight)
		Label("fourColumn")
		place()
		c := coefficient()
		for i := range inFlight {
			l.FMA(Mem{Base: at, Disp: i * l.Bytes()}, c, acc[i])
		}
		next("fourColumn")
		finish("four", inFlight)
		JMP(LabelRef("four"))
	}

	Label("one")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	begin(1)
	Label("oneColumn")
	place()
	if perDiagonal {
		l.FMA(Mem{Base: at}, coefficient(), acc[0])
	} else {
		v := l.Reg()
		l.Load(Mem{Base: at}, v)
		l.FMA(column(Mem{Base: val}), v, acc[0])
	}
	next("oneColumn")
	finish("one", 1)
	JMP(LabelRef("one"))

	Label("masked")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	begin(1)
	Label("maskedColumn")
	place()
	mask.Load(Mem{Base: masks})
	ADDQ(Imm(2), masks)
	v := l.Reg()
	mask.LoadLanes(Mem{Base: at}, v)
	if perDiagonal {
		mask.FMA(coefficient(), v, acc[0])
	} else {
		mask.FMA(column(Mem{Base: val}), v, acc[0])
	}
	next("maskedColumn")
	finish("masked", 1)
	JMP(LabelRef("masked"))

	Label("done")
	VZEROUPPER()
	RET()
}
