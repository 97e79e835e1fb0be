package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// blockKernel has the registers of a kernel of blocks.
type blockKernel struct {
	*columns
	size                         int
	ldx, ldy                     Register
	alpha                        VecVirtual
	own, acc                     []VecVirtual // rows of x of a block row, and their sums
	lane, j, width, at, from, to GPVirtual
	stride                       [6]GPVirtual // 1, 3 and 5 times the bytes of one value per lane
	lanes, column                GPVirtual
	cell                         GPVirtual // address of the column of the block
	ahead                        GPVirtual // distance of the line that a lane prefetches from a column of a block
}

// blocks generates the kernel of blocks of size x size: one block row after the other, with its
// rows of x and its sums in registers.
func blocks(c *columns, size int) {
	c.Func(fmt.Sprintf("manySymmetricBlocks%d%s", size, c.Suffix()),
		"func(lanes, n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)",
		"computes MultiplySymmetricBlocksMany for n slices of lanes lanes and the size of blocks in its name:",
		"",
		"\tfor every block row r of every slice, and each of its blocks with first column c:",
		"\t\ty[r+i][k] += alpha * val[j][i] * x[c+j][k]",
		"\t\ty[c+j][k] += alpha * val[j][i] * x[r+i][k]  if the block is before the diagonal",
		"",
		"y begins with row first; rows are ldx and ldy bytes apart.")
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
	SUBQ(k.j, lanes.Arg("y")) // address of row 0
	return k
}

// begin moves to the first block of the lane.
func (k *blockKernel) begin() {
	MOVQ(lanes.Arg("idx"), k.cell)
	LEAQ(Mem{Base: k.cell, Index: k.lane, Scale: 4}, k.cell)
}

// place sets from and to to the rows of x and y of the block at cell.
func (k *blockKernel) place() {
	MOVL(Mem{Base: k.cell}, k.from.As32())
	MOVQ(k.from, k.to)
	IMULQ(k.ldx, k.from)
	ADDQ(lanes.Arg("x"), k.from)
	IMULQ(k.ldy, k.to)
	ADDQ(lanes.Arg("y"), k.to)
}

// present jumps to label missing if the lane has no block j.
func (k *blockKernel) present() {
	MOVQ(lanes.Arg("masks"), k.column)
	MOVWLZX(Mem{Base: k.column, Index: k.j, Scale: 2}, k.column.As32())
	BTL(k.lane.As32(), k.column.As32())
	JCC(LabelRef("missing"))
}

// behind returns the memory after values values per lane.
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

// value returns the value of a row in the current column of the block, in all elements of a
// register.
func (k *blockKernel) value(row int) VecVirtual {
	f := k.Reg()
	k.Broadcast(k.behind(row), f)
	return f
}

// eachColumn generates column for each column of a block, unrolled for small blocks.
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

// diagonal begins a block row: it loads the rows of x, and multiplies the block on the diagonal if
// there is one.
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

// block multiplies a block before the diagonal, if there is one, and its transpose.
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

// store adds the sums of the rows to y. The rows are the columns of the block on the diagonal.
func (k *blockKernel) store() {
	k.begin()
	k.place()
	for _, sum := range k.acc {
		k.add(sum, k.alpha, Mem{Base: k.to})
		ADDQ(k.ldy, k.to)
	}
}

// nextSlice moves past the blocks of a slice.
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
