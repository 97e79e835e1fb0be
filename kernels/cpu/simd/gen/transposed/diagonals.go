package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// most is how many neighbouring diagonals are added up in registers: an element of y in
// memory is then read and written once for all of them. Of more the shifts would cross
// halves of 256 bits.
const most = 3

// diagonals generates a kernel. What neighbouring diagonals add to elements behind their
// slice waits in carries, as the products of the slice before. In place of lanes.Same it has one value for each
// diagonal: what is the same for all is that as well.
func diagonals(l lanes.Lanes, values lanes.Values) {
	perDiagonal := values.Name == lanes.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	name := "diagonalsTransposed" + values.Name + l.Suffix()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, offsets *int64, width int, masks *uint16, val *byte, y *%[1]s, row int, table, x *%[1]s, alpha %[1]s, carries *%[1]s)", l.Type()))
	Pragma("noescape")
	Doc(name+" is addRunGeneric for the case in its name, but for",
		"what carries have at the end, which are products of the last slice.")

	n := Load(Param("n"), GP64())
	offsets := Load(Param("offsets"), GP64())
	width := Load(Param("width"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	y := Load(Param("y"), GP64())
	row := Load(Param("row"), GP64())
	table := Load(Param("table"), GP64())
	x := Load(Param("x"), GP64())
	LEAQ(Mem{Base: y, Index: row, Scale: uint8(l.Size())}, y)
	bytes := values.Bytes(l)
	alpha := l.Reg()
	l.Broadcast(lanes.Arg("alpha"), alpha)
	var column func(Mem) Op
	if !perDiagonal {
		column = values.Begin(l, table)
	}
	mask := l.NewMask()
	factors := l.Reg()
	j, at := GP64(), GP64()

	// begin starts the columns of a slice, place finds y for column j.
	begin := func() {
		l.Mul(Mem{Base: x}, alpha, factors)
		XORQ(j, j)
	}
	place := func() {
		MOVQ(Mem{Base: offsets, Index: j, Scale: 8}, at)
		LEAQ(Mem{Base: y, Index: at, Scale: uint8(l.Size())}, at)
	}
	// value is that of column j+i.
	value := func(i int) Op {
		if perDiagonal {
			c := l.Reg()
			l.Broadcast(Mem{Base: table, Index: j, Scale: uint8(l.Size()), Disp: i * l.Size()}, c)
			return c
		}
		return column(Mem{Base: val, Disp: i * bytes})
	}
	// next goes count columns on, to more where there are any, or else to another slice.
	next := func(count int, more, slice string) {
		if bytes > 0 {
			ADDQ(Imm(uint64(count*bytes)), val)
		}
		ADDQ(Imm(uint64(count)), j)
		CMPQ(j, width)
		JL(LabelRef(more))
		ADDQ(Imm(uint64(l.Bytes())), y)
		ADDQ(Imm(uint64(l.Bytes())), x)
		DECQ(n)
		JMP(LabelRef(slice))
	}

	TESTQ(masks, masks)
	JNZ(LabelRef("masked"))
	carries := Load(Param("carries"), GP64())
	Label("slice")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	begin()
	carry, left, distance := GP64(), GP64(), GP64()
	MOVQ(carries, carry)
	Label("column")
	place()
	MOVQ(width, left)
	SUBQ(j, left)
	for count := most; count > 0; count-- {
		fewer := fmt.Sprintf("fewerThan%d", count)
		if count > 1 {
			CMPQ(left, Imm(uint64(count)))
			JL(LabelRef(fewer))
			MOVQ(Mem{Base: offsets, Index: j, Scale: 8, Disp: 8 * (count - 1)}, distance)
			SUBQ(Mem{Base: offsets, Index: j, Scale: 8}, distance)
			CMPQ(distance, Imm(uint64(count-1)))
			JNE(LabelRef(fewer))
		}
		sum := l.Reg()
		l.Load(Mem{Base: at}, sum)
		l.FMA(value(0), factors, sum)
		for i := 1; i < count; i++ {
			product, moved, before := l.Reg(), l.Reg(), Mem{Base: carry, Disp: i * l.Bytes()}
			l.Mul(value(i), factors, product)
			l.Behind(before, product, i, moved)
			l.Store(product, before)
			l.Add(moved, sum, sum)
		}
		l.Store(sum, Mem{Base: at})
		ADDQ(U32(count*l.Bytes()), carry)
		next(count, "column", "slice")
		if count > 1 {
			Label(fewer)
		}
	}

	Label("masked")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	begin()
	Label("maskedColumn")
	place()
	mask.Load(Mem{Base: masks})
	ADDQ(Imm(2), masks)
	sum := l.Reg()
	mask.LoadLanes(Mem{Base: at}, sum)
	l.FMA(value(0), factors, sum)
	mask.StoreLanes(sum, Mem{Base: at})
	next(1, "maskedColumn", "masked")

	Label("done")
	VZEROUPPER()
	RET()
}
