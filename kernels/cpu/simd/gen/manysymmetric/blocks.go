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
	masks, val, idx              Register
	x, ldx, y, ldy               Register // y is where row 0 would be
	alpha                        VecVirtual
	own, acc                     []VecVirtual // the rows of x of a row of blocks, and its sums
	lane, j, width, at, from, to GPVirtual
}

// blocks generates the kernel of blocks of size x size: a row of blocks after the other,
// with their rows of x and the sums in registers.
func blocks(c *columns, size int) {
	name := c.name(fmt.Sprintf("manySymmetricBlocks%d", size))
	c.Func(name, "func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x *V, ldx int, y *V, ldy, first int, alpha V)",
		"is MultiplySymmetricBlocksMany for the case in its name. y begins with",
		"row first; ldx and ldy are bytes.")
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
	Label("block")
	k.block()
	Label("next")
	ADDQ(U32(size*size*c.layout.Bytes()), k.at)
	INCQ(k.j)
	CMPQ(k.j, k.width)
	JL(LabelRef("block"))
	k.store()
	INCQ(k.lane)
	CMPQ(k.lane, Imm(uint64(c.layout.Count())))
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
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	k.idx = Load(Param("idx"), GP64())
	k.x, k.ldx = Load(Param("x"), GP64()), Load(Param("ldx"), GP64())
	k.y, k.ldy = Load(Param("y"), GP64()), Load(Param("ldy"), GP64())
	k.alpha = c.Reg()
	c.Broadcast(lanes.Arg("alpha"), k.alpha)
	for range size {
		k.own, k.acc = append(k.own, c.Reg()), append(k.acc, c.Reg())
	}
	k.lane, k.j, k.width, k.at, k.from, k.to = GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(lanes.Arg("first"), k.j)
	IMULQ(k.ldy, k.j)
	SUBQ(k.j, k.y)
	return k
}

// place finds the rows of x and y for block j of the lane.
func (k *blockKernel) place() {
	t := GP64()
	MOVQ(k.j, t)
	SHLQ(Imm(uint64(shift(k.layout.Count()))), t)
	ADDQ(k.lane, t)
	MOVL(Mem{Base: k.idx, Index: t, Scale: 4}, k.from.As32())
	MOVQ(k.from, k.to)
	IMULQ(k.ldx, k.from)
	ADDQ(k.x, k.from)
	IMULQ(k.ldy, k.to)
	ADDQ(k.y, k.to)
}

// missing goes to a label where the lane has no block j.
func (k *blockKernel) missing(label string) {
	mask := GP64()
	MOVWLZX(Mem{Base: k.masks, Index: k.j, Scale: 2}, mask.As32())
	BTL(k.lane.As32(), mask.As32())
	JCC(LabelRef(label))
}

// value is a value of the block, in all elements of a register.
func (k *blockKernel) value(row, column int) VecVirtual {
	f, m := k.Reg(), Mem{Base: k.at, Disp: (column*k.size + row) * k.layout.Bytes()}
	k.Broadcast(m, f)
	m.Disp += aheadBytes
	PREFETCHT0(m)
	return f
}

// diagonal begins a row of blocks: it loads its rows of x, and multiplies the block on the
// diagonal where there is one.
func (k *blockKernel) diagonal() {
	XORQ(k.j, k.j)
	LEAQ(Mem{Base: k.val, Index: k.lane, Scale: uint8(k.Size())}, k.at)
	k.place()
	for i := range k.size {
		k.Load(Mem{Base: k.from}, k.own[i])
		ADDQ(k.ldx, k.from)
		k.Zero(k.acc[i])
	}
	k.missing("next")
	for column := range k.size {
		for row := range k.size {
			k.FMA(k.own[column], k.value(row, column), k.acc[row])
		}
	}
}

// block multiplies a block before the diagonal, where there is one: for its rows, and for its
// columns.
func (k *blockKernel) block() {
	k.missing("next")
	k.place()
	for column := range k.size {
		in, sum := k.Reg(), k.Reg()
		k.Load(Mem{Base: k.from}, in)
		PREFETCHT0(Mem{Base: k.from, Index: k.ldx, Scale: aheadRows})
		PREFETCHT0(Mem{Base: k.to, Index: k.ldy, Scale: aheadRows})
		for row := range k.size {
			f := k.value(row, column)
			k.FMA(in, f, k.acc[row])
			if row == 0 {
				k.Mul(k.own[row], f, sum)
			} else {
				k.FMA(k.own[row], f, sum)
			}
		}
		k.add(sum, k.alpha, Mem{Base: k.to})
		ADDQ(k.ldx, k.from)
		ADDQ(k.ldy, k.to)
	}
}

// store adds the sums of the rows to y: they are the columns of the block on the diagonal.
func (k *blockKernel) store() {
	XORQ(k.j, k.j)
	k.place()
	for _, sum := range k.acc {
		k.add(sum, k.alpha, Mem{Base: k.to})
		ADDQ(k.ldy, k.to)
	}
}

// nextSlice goes on behind the blocks of a slice.
func (k *blockKernel) nextSlice() {
	t := GP64()
	LEAQ(Mem{Base: k.masks, Index: k.width, Scale: 2}, k.masks)
	IMUL3Q(U32(4*k.layout.Count()), k.width, t)
	ADDQ(t, k.idx)
	IMUL3Q(U32(k.size*k.size*k.layout.Bytes()), k.width, t)
	ADDQ(t, k.val)
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
