package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// blockKernel is the registers of a kernel of blocks.
type blockKernel struct {
	*columns
	size                         int
	ldx, ldy                     Register
	alpha                        VecVirtual
	own, acc                     []VecVirtual // the rows of x of a row of blocks, and its sums
	lane, j, width, at, from, to GPVirtual
	stride                       [6]GPVirtual // once, three and five times the bytes of one value for each lane
	lanes, column                GPVirtual
	cell                         GPVirtual // where the column of the block is
	ahead                        GPVirtual // how far from a column of a block the line is that the lane asks for
}

// blocks generates the kernel of blocks of size x size: a row of blocks after the other,
// with their rows of x and the sums in registers.
func blocks(c *columns, size int) {
	c.Func(fmt.Sprintf("manySymmetricBlocks%d%s", size, c.Suffix()),
		"func(lanes, n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)",
		"is MultiplySymmetricBlocksMany for the case in its name and slices of",
		"so many lanes. y begins with row first; ldx and ldy are bytes.")
	k := beginBlocks(c, size)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	MOVQ(lanes.Arg("widths"), k.width)
	MOVL(Mem{Base: k.width}, k.width.As32())
	XORQ(k.lane, k.lane)

	Label("lane")
	k.diagonal()
	JMP(LabelRef("next"))
	Label("missing")
	IMUL3Q(Imm(uint64(size*size)), k.stride[1], k.column)
	ADDQ(k.column, k.at)
	JMP(LabelRef("next"))
	Label("block")
	k.block()
	Label("next")
	LEAQ(Mem{Base: k.cell, Index: k.lanes, Scale: 4}, k.cell)
	INCQ(k.j)
	CMPQ(k.j, k.width)
	JL(LabelRef("block"))
	k.store()
	INCQ(k.lane)
	CMPQ(k.lane, k.lanes)
	JL(LabelRef("lane"))
	k.nextSlice()
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginBlocks loads the arguments that have registers.
func beginBlocks(c *columns, size int) *blockKernel {
	k := &blockKernel{columns: c, size: size}
	k.ldx, k.ldy = Load(Param("ldx"), GP64()), Load(Param("ldy"), GP64())
	k.alpha = c.Reg()
	c.Broadcast(lanes.Arg("alpha"), k.alpha)
	for range size {
		k.own, k.acc = append(k.own, c.Reg()), append(k.acc, c.Reg())
	}
	k.lane, k.j, k.width, k.at, k.from, k.to = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	k.stride[1], k.column, k.ahead, k.cell = c.stride(), GP64(), GP64(), GP64()
	k.lanes = Load(Param("lanes"), GP64()).(GPVirtual)
	for i := 3; i <= size; i += 2 {
		k.stride[i] = GP64()
		IMUL3Q(Imm(uint64(i)), k.stride[1], k.stride[i])
	}
	MOVQ(lanes.Arg("first"), k.j)
	IMULQ(k.ldy, k.j)
	SUBQ(k.j, lanes.Arg("y")) // where row 0 would be
	return k
}

// begin goes to the first block of the lane.
func (k *blockKernel) begin() {
	MOVQ(lanes.Arg("idx"), k.cell)
	LEAQ(Mem{Base: k.cell, Index: k.lane, Scale: 4}, k.cell)
}

// place finds the rows of x and y for the block at cell.
func (k *blockKernel) place() {
	MOVL(Mem{Base: k.cell}, k.from.As32())
	MOVQ(k.from, k.to)
	IMULQ(k.ldx, k.from)
	ADDQ(lanes.Arg("x"), k.from)
	IMULQ(k.ldy, k.to)
	ADDQ(lanes.Arg("y"), k.to)
}

// present goes to the label missing where the lane has no block j.
func (k *blockKernel) present() {
	MOVQ(lanes.Arg("masks"), k.column)
	MOVWLZX(Mem{Base: k.column, Index: k.j, Scale: 2}, k.column.As32())
	BTL(k.lane.As32(), k.column.As32())
	JCC(LabelRef("missing"))
}

// behind is where so many values for each lane end, from here on.
func (k *blockKernel) behind(values int) Mem {
	m := Mem{Base: k.at}
	switch {
	case values == 6:
		m.Index, m.Scale = k.stride[3], 2
	case values%2 > 0:
		m.Index, m.Scale = k.stride[values], 1
	case values > 0:
		m.Index, m.Scale = k.stride[1], uint8(values)
	}
	return m
}

// value is the value of a row in the column of the block, in all elements of a register.
func (k *blockKernel) value(row int) VecVirtual {
	f := k.Reg()
	k.Broadcast(k.behind(row), f)
	return f
}

// eachColumn multiplies by the columns of a block, of those of small blocks one behind the other.
func (k *blockKernel) eachColumn(label string, column func()) {
	next := func() {
		PREFETCHT0(Mem{Base: k.at, Index: k.ahead, Scale: 1, Disp: aheadBytes})
		column()
		ADDQ(k.ldx, k.from)
		LEAQ(k.behind(k.size), k.at)
	}
	if k.size <= 3 {
		for range k.size {
			next()
		}
		return
	}
	MOVQ(U32(k.size), k.column)
	Label(label)
	next()
	DECQ(k.column)
	JNZ(LabelRef(label))
}

// diagonal begins a row of blocks: it loads its rows of x, and multiplies the block on the
// diagonal where there is one.
func (k *blockKernel) diagonal() {
	XORQ(k.j, k.j)
	MOVQ(k.lane, k.column)
	SHLQ(Imm(6), k.column)
	MOVQ(k.width, k.ahead)
	IMULQ(k.stride[1], k.ahead)
	IMUL3Q(Imm(uint64(k.size*k.size)), k.ahead, k.ahead)
	ADDQ(k.column, k.ahead)
	MOVQ(lanes.Arg("val"), k.at)
	LEAQ(Mem{Base: k.at, Index: k.lane, Scale: uint8(k.Size())}, k.at)
	k.begin()
	k.place()
	MOVQ(k.from, k.to)
	for i := range k.size {
		k.Load(Mem{Base: k.to}, k.own[i])
		ADDQ(k.ldx, k.to)
		k.Zero(k.acc[i])
	}
	k.present()
	k.eachColumn("diagonalColumn", func() {
		in := k.Reg()
		k.Load(Mem{Base: k.from}, in)
		for row := range k.size {
			k.FMA(in, k.value(row), k.acc[row])
		}
	})
}

// block multiplies a block before the diagonal, where there is one: for its rows, and for its
// columns.
func (k *blockKernel) block() {
	k.present()
	k.place()
	k.eachColumn("blockColumn", func() {
		in, sum := k.Reg(), k.Reg()
		k.Load(Mem{Base: k.from}, in)
		PREFETCHT0(Mem{Base: k.from, Index: k.ldx, Scale: aheadRows})
		PREFETCHT0(Mem{Base: k.to, Index: k.ldy, Scale: aheadRows})
		for row := range k.size {
			f := k.value(row)
			k.FMA(in, f, k.acc[row])
			if row == 0 {
				k.Mul(k.own[row], f, sum)
			} else {
				k.FMA(k.own[row], f, sum)
			}
		}
		k.add(sum, k.alpha, Mem{Base: k.to})
		ADDQ(k.ldy, k.to)
	})
}

// store adds the sums of the rows to y: they are the columns of the block on the diagonal.
func (k *blockKernel) store() {
	k.begin()
	k.place()
	for _, sum := range k.acc {
		k.add(sum, k.alpha, Mem{Base: k.to})
		ADDQ(k.ldy, k.to)
	}
}

// nextSlice goes on behind the blocks of a slice.
func (k *blockKernel) nextSlice() {
	LEAQ(Mem{Base: k.width, Index: k.width, Scale: 1}, k.column)
	ADDQ(k.column, lanes.Arg("masks"))
	IMULQ(k.lanes, k.width)
	IMUL3Q(Imm(4), k.width, k.column)
	ADDQ(k.column, lanes.Arg("idx"))
	IMUL3Q(U32(k.size*k.size*k.Size()), k.width, k.width)
	ADDQ(k.width, lanes.Arg("val"))
	ADDQ(Imm(4), lanes.Arg("widths"))
	DECQ(lanes.Arg("n"))
}
