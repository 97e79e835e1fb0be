package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// blocks generates the kernel of blocks of size x size: a row of blocks after the other,
// with their rows of x and the sums in registers.
func blocks(c *columns, size int) {
	name := c.name(fmt.Sprintf("manySymmetricBlocks%d", size))
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, val *%[1]s, idx *int32, x *%[1]s, ldx int, y *%[1]s, ldy, first int, alpha %[1]s)", c.Type()))
	Pragma("noescape")
	Doc(name+" is MultiplySymmetricBlocksMany for the case in its name. y begins with",
		"row first; ldx and ldy are bytes.")
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	x, ldx := Load(Param("x"), GP64()), Load(Param("ldx"), GP64())
	y, ldy := Load(Param("y"), GP64()), Load(Param("ldy"), GP64())
	alpha := c.Reg()
	c.Broadcast(lanes.Arg("alpha"), alpha)
	var own, acc []VecVirtual
	for range size {
		own, acc = append(own, c.Reg()), append(acc, c.Reg())
	}
	lane, j, width, at, from, to := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(lanes.Arg("first"), j)
	IMULQ(ldy, j)
	SUBQ(j, y)
	// place finds the rows of x and y for block j of the lane.
	place := func() {
		t := GP64()
		MOVQ(j, t)
		SHLQ(Imm(uint64(shift(c.layout.Count()))), t)
		ADDQ(lane, t)
		MOVL(Mem{Base: idx, Index: t, Scale: 4}, from.As32())
		MOVQ(from, to)
		IMULQ(ldx, from)
		ADDQ(x, from)
		IMULQ(ldy, to)
		ADDQ(y, to)
	}
	// missing goes to a label where the lane has no block j.
	missing := func(label string) {
		mask := GP64()
		MOVWLZX(Mem{Base: masks, Index: j, Scale: 2}, mask.As32())
		BTL(lane.As32(), mask.As32())
		JCC(LabelRef(label))
	}
	value := func(row, column int) VecVirtual {
		f, m := c.Reg(), Mem{Base: at, Disp: (column*size + row) * c.layout.Bytes()}
		c.Broadcast(m, f)
		m.Disp += aheadBytes
		PREFETCHT0(m)
		return f
	}

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	MOVQ(lanes.Arg("widths"), width)
	MOVL(Mem{Base: width}, width.As32())
	XORQ(lane, lane)

	Label("lane")
	XORQ(j, j)
	LEAQ(Mem{Base: val, Index: lane, Scale: uint8(c.Size())}, at)
	place()
	for i := range size {
		c.Load(Mem{Base: from}, own[i])
		ADDQ(ldx, from)
		c.Zero(acc[i])
	}
	missing("next") // the block on the diagonal
	for column := range size {
		for row := range size {
			c.FMA(own[column], value(row, column), acc[row])
		}
	}
	JMP(LabelRef("next"))

	Label("block")
	missing("next")
	place()
	for column := range size {
		in, sum := c.Reg(), c.Reg()
		c.Load(Mem{Base: from}, in)
		PREFETCHT0(Mem{Base: from, Index: ldx, Scale: aheadRows})
		PREFETCHT0(Mem{Base: to, Index: ldy, Scale: aheadRows})
		for row := range size {
			f := value(row, column)
			c.FMA(in, f, acc[row])
			if row == 0 {
				c.Mul(own[row], f, sum)
			} else {
				c.FMA(own[row], f, sum)
			}
		}
		c.add(sum, alpha, Mem{Base: to})
		ADDQ(ldx, from)
		ADDQ(ldy, to)
	}
	Label("next")
	ADDQ(U32(size*size*c.layout.Bytes()), at)
	INCQ(j)
	CMPQ(j, width)
	JL(LabelRef("block"))

	XORQ(j, j)
	place() // the rows are the columns of the block on the diagonal
	for i := range size {
		c.add(acc[i], alpha, Mem{Base: to})
		ADDQ(ldy, to)
	}
	INCQ(lane)
	CMPQ(lane, Imm(uint64(c.layout.Count())))
	JL(LabelRef("lane"))
	nextSlice(c, size, width, val, idx, masks)
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// nextSlice goes on behind the blocks of a slice.
func nextSlice(c *columns, size int, width, val, idx, masks Register) {
	t := GP64()
	LEAQ(Mem{Base: masks, Index: width, Scale: 2}, masks)
	IMUL3Q(U32(4*c.layout.Count()), width, t)
	ADDQ(t, idx)
	IMUL3Q(U32(size*size*c.layout.Bytes()), width, t)
	ADDQ(t, val)
	ADDQ(Imm(4), lanes.Arg("widths"))
	DECQ(lanes.Arg("n"))
}

// shift is the logarithm of the lanes.
func shift(n int) (s int) {
	for ; n > 1; n /= 2 {
		s++
	}
	return s
}
