package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// most is how many neighbouring diagonals are added up in registers: an element of y in
// memory is then read and written once for all of them. Of more the shifts would cross
// halves of 256 bits.
const most = 3

// diagonals generates a kernel. What neighbouring diagonals add to elements behind their
// slice waits in carries, as the products of the slice before. In place of lanes.Same it
// has one value for each diagonal: what is the same for all is that as well.
func diagonals(l lanes.Lanes, values lanes.Values) {
	perDiagonal := values.Name == lanes.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	name := "diagonalsTransposed" + values.Name + l.Suffix()
	l.Func(name, "func(n int, offsets *int64, width int, masks *uint16, val *byte, y *V, row int, table, x *V, alpha V, carries *V)",
		"is addRunGeneric for the case in its name, but for",
		"what carries have at the end, which are products of the last slice.")

	d := beginDiagonals(l, values, perDiagonal)
	TESTQ(d.masks, d.masks)
	JNZ(LabelRef("masked"))
	d.whole()
	d.masked()
	Label("done")
	VZEROUPPER()
	RET()
}

// diagonalKernel is where the arguments and the state of a kernel are.
type diagonalKernel struct {
	lanes.Lanes
	perDiagonal       bool
	bytes             int          // of the values of a column
	column            func(Mem) Op // opens the values of a column
	n, offsets, width Register
	masks, val, y, x  Register
	table             Register
	alpha, factors    VecVirtual // the rows of x, times alpha
	mask              *lanes.Mask
	j, at             GPVirtual // the column, and its y
}

// beginDiagonals loads the arguments.
func beginDiagonals(l lanes.Lanes, values lanes.Values, perDiagonal bool) *diagonalKernel {
	d := &diagonalKernel{Lanes: l, perDiagonal: perDiagonal}
	d.n = Load(Param("n"), GP64())
	d.offsets = Load(Param("offsets"), GP64())
	d.width = Load(Param("width"), GP64())
	d.masks = Load(Param("masks"), GP64())
	d.val = Load(Param("val"), GP64())
	d.y = Load(Param("y"), GP64())
	row := Load(Param("row"), GP64())
	d.table = Load(Param("table"), GP64())
	d.x = Load(Param("x"), GP64())
	LEAQ(Mem{Base: d.y, Index: row, Scale: uint8(l.Size())}, d.y)
	d.bytes = values.Bytes(l)
	d.alpha = l.Reg()
	l.Broadcast(lanes.Arg("alpha"), d.alpha)
	if !perDiagonal {
		d.column = values.Begin(l, d.table)
	}
	d.mask = l.NewMask()
	d.factors = l.Reg()
	d.j, d.at = GP64(), GP64()
	return d
}

// whole multiplies slices without missing entries.
func (d *diagonalKernel) whole() {
	carries := Load(Param("carries"), GP64())
	Label("slice")
	TESTQ(d.n, d.n)
	JZ(LabelRef("done"))
	d.open()
	carry, left, distance := GP64(), GP64(), GP64()
	MOVQ(carries, carry)
	Label("column")
	d.place()
	MOVQ(d.width, left)
	SUBQ(d.j, left)
	for count := most; count > 0; count-- {
		fewer := fmt.Sprintf("fewerThan%d", count)
		if count > 1 {
			CMPQ(left, Imm(uint64(count)))
			JL(LabelRef(fewer))
			MOVQ(Mem{Base: d.offsets, Index: d.j, Scale: 8, Disp: 8 * (count - 1)}, distance)
			SUBQ(Mem{Base: d.offsets, Index: d.j, Scale: 8}, distance)
			CMPQ(distance, Imm(uint64(count-1)))
			JNE(LabelRef(fewer))
		}
		d.neighbours(count, carry)
		if count > 1 {
			Label(fewer)
		}
	}
}

// neighbours adds count diagonals that lie side by side in one go.
func (d *diagonalKernel) neighbours(count int, carry GPVirtual) {
	sum := d.Reg()
	d.Load(Mem{Base: d.at}, sum)
	d.FMA(d.value(0), d.factors, sum)
	for i := 1; i < count; i++ {
		product, moved, before := d.Reg(), d.Reg(), Mem{Base: carry, Disp: i * d.Bytes()}
		d.Mul(d.value(i), d.factors, product)
		d.Behind(before, product, i, moved)
		d.Store(product, before)
		d.Add(moved, sum, sum)
	}
	d.Store(sum, Mem{Base: d.at})
	ADDQ(U32(count*d.Bytes()), carry)
	d.next(count, "column", "slice")
}

// masked multiplies slices with missing entries.
func (d *diagonalKernel) masked() {
	Label("masked")
	TESTQ(d.n, d.n)
	JZ(LabelRef("done"))
	d.open()
	Label("maskedColumn")
	d.place()
	d.mask.Load(Mem{Base: d.masks})
	ADDQ(Imm(2), d.masks)
	sum := d.Reg()
	d.mask.LoadLanes(Mem{Base: d.at}, sum)
	d.FMA(d.value(0), d.factors, sum)
	d.mask.StoreLanes(sum, Mem{Base: d.at})
	d.next(1, "maskedColumn", "masked")
}

// open starts the columns of a slice.
func (d *diagonalKernel) open() {
	d.Mul(Mem{Base: d.x}, d.alpha, d.factors)
	XORQ(d.j, d.j)
}

// place finds y for column j.
func (d *diagonalKernel) place() {
	MOVQ(Mem{Base: d.offsets, Index: d.j, Scale: 8}, d.at)
	LEAQ(Mem{Base: d.y, Index: d.at, Scale: uint8(d.Size())}, d.at)
}

// value is that of column j+i.
func (d *diagonalKernel) value(i int) Op {
	if d.perDiagonal {
		c := d.Reg()
		d.Broadcast(Mem{Base: d.table, Index: d.j, Scale: uint8(d.Size()), Disp: i * d.Size()}, c)
		return c
	}
	return d.column(Mem{Base: d.val, Disp: i * d.bytes})
}

// next goes count columns on, to more where there are any, or else to another slice.
func (d *diagonalKernel) next(count int, more, slice string) {
	if d.bytes > 0 {
		ADDQ(Imm(uint64(count*d.bytes)), d.val)
	}
	ADDQ(Imm(uint64(count)), d.j)
	CMPQ(d.j, d.width)
	JL(LabelRef(more))
	ADDQ(Imm(uint64(d.Bytes())), d.y)
	ADDQ(Imm(uint64(d.Bytes())), d.x)
	DECQ(d.n)
	JMP(LabelRef(slice))
}
