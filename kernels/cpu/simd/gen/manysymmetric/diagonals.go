package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// diagonals generates the kernel of diagonals: row after row, each with all its entries, so
// that what these add to rows before it, which were finished, is no matter of order.
func diagonals(c *columns) {
	name := c.name("manySymmetricDiagonals")
	TEXT(name, NOSPLIT, fmt.Sprintf("func(rows, width, before int, masks *uint16, val *%[1]s, offsets *int64, x *%[1]s, ldx int, y *%[1]s, ldy int, alpha %[1]s)", c.Type()))
	Pragma("noescape")
	Doc(name+" multiplies rows of slices of width columns, of which before lie",
		"before the diagonal: masks is nil where no entry is missing. x and y begin with the",
		"first row; ldx and ldy are bytes.")
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	offsets := Load(Param("offsets"), GP64())
	x, ldx := Load(Param("x"), GP64()), Load(Param("ldx"), GP64())
	y, ldy := Load(Param("y"), GP64()), Load(Param("ldy"), GP64())
	alpha, own, acc := c.Reg(), c.Reg(), c.Reg()
	c.Broadcast(lanes.Arg("alpha"), alpha)
	lane, j, at := GP64(), GP64(), GP64()

	Label("slice")
	XORQ(lane, lane)
	Label("row")
	CMPQ(lanes.Arg("rows"), Imm(0))
	JEQ(LabelRef("done"))
	DECQ(lanes.Arg("rows"))
	c.Load(Mem{Base: x}, own)
	PREFETCHT0(Mem{Base: y, Index: ldy, Scale: aheadRows})
	c.Zero(acc)
	XORQ(j, j)
	LEAQ(Mem{Base: val, Index: lane, Scale: uint8(c.Size())}, at)
	JMP(LabelRef("next"))

	Label("column")
	TESTQ(masks, masks)
	JZ(LabelRef("present"))
	mask := GP64()
	MOVWLZX(Mem{Base: masks, Index: j, Scale: 2}, mask.As32())
	BTL(lane.As32(), mask.As32())
	JCC(LabelRef("missing"))
	Label("present")
	f, from, to := c.Reg(), GP64(), GP64()
	c.Broadcast(Mem{Base: at}, f)
	PREFETCHT0(Mem{Base: at, Disp: aheadBytes})
	MOVQ(Mem{Base: offsets, Index: j, Scale: 8}, from)
	MOVQ(from, to)
	IMULQ(ldx, from)
	ADDQ(x, from)
	PREFETCHT0(Mem{Base: from, Index: ldx, Scale: aheadRows})
	c.FMA(Mem{Base: from}, f, acc)
	CMPQ(j, lanes.Arg("before"))
	JGE(LabelRef("missing"))
	IMULQ(ldy, to)
	ADDQ(y, to)
	PREFETCHT0(Mem{Base: to, Index: ldy, Scale: aheadRows})
	c.Mul(own, f, f)
	c.add(f, alpha, Mem{Base: to})
	Label("missing")
	ADDQ(Imm(uint64(c.layout.Bytes())), at)
	INCQ(j)
	Label("next")
	CMPQ(j, lanes.Arg("width"))
	JL(LabelRef("column"))

	c.add(acc, alpha, Mem{Base: y})
	ADDQ(ldx, x)
	ADDQ(ldy, y)
	INCQ(lane)
	CMPQ(lane, Imm(uint64(c.layout.Count())))
	JL(LabelRef("row"))
	MOVQ(lanes.Arg("width"), j)
	TESTQ(masks, masks)
	JZ(LabelRef("whole"))
	LEAQ(Mem{Base: masks, Index: j, Scale: 2}, masks)
	Label("whole")
	IMUL3Q(Imm(uint64(c.layout.Bytes())), j, j)
	ADDQ(j, val)
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}
