package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// diagonalKernel has the registers of the kernel of diagonals.
type diagonalKernel struct {
	*columns
	masks, val, offsets, x, ldx, y, ldy Register
	alpha, own, acc                     VecVirtual // own is the row of x of the current row, acc its sum
	lane, j, at, stride                 GPVirtual
}

// diagonals generates the kernel of diagonals. It finishes one row after the other, so that
// products that are added to earlier rows need no order.
func diagonals(c *columns) {
	c.Func("manySymmetricDiagonals"+c.Suffix(), "func(lanes, rows, width, before int, masks *uint16, val *V, offsets *int64, x *V, ldx int, y *V, ldy int, alpha V)",
		"computes AddSymmetricMany for a run of slices of lanes lanes and width columns, before of them before the diagonal:",
		"",
		"\tfor r := range rows {",
		"\t\tfor c, o := range offsets {",
		"\t\t\ty[r][j] += alpha * val[c][r] * x[r+o][j]",
		"\t\t\ty[r+o][j] += alpha * val[c][r] * x[r][j]  if c < before",
		"\t\t}",
		"\t}",
		"",
		"masks is nil if no entry is missing. x and y begin with the first row; rows are ldx and ldy bytes apart.")
	k := beginDiagonals(c)

	Label("slice")
	XORQ(k.lane, k.lane)
	Label("row")
	CMPQ(lanes.Arg("rows"), Imm(0))
	JEQ(LabelRef("done"))
	DECQ(lanes.Arg("rows"))
	c.Load(Mem{Base: k.x}, k.own)
	PREFETCHT0(Mem{Base: k.y, Index: k.ldy, Scale: aheadRows})
	c.Zero(k.acc)
	XORQ(k.j, k.j)
	LEAQ(Mem{Base: k.val, Index: k.lane, Scale: uint8(c.Size())}, k.at)
	JMP(LabelRef("next"))
	Label("column")
	k.entry()
	ADDQ(k.stride, k.at)
	INCQ(k.j)
	Label("next")
	CMPQ(k.j, lanes.Arg("width"))
	JL(LabelRef("column"))

	c.add(k.acc, k.alpha, Mem{Base: k.y})
	ADDQ(k.ldx, k.x)
	ADDQ(k.ldy, k.y)
	INCQ(k.lane)
	CMPQ(k.lane, lanes.Arg("lanes"))
	JL(LabelRef("row"))
	k.nextSlice()
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginDiagonals loads the arguments that have registers.
func beginDiagonals(c *columns) *diagonalKernel {
	k := &diagonalKernel{columns: c}
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	k.offsets = Load(Param("offsets"), GP64())
	k.x, k.ldx = Load(Param("x"), GP64()), Load(Param("ldx"), GP64())
	k.y, k.ldy = Load(Param("y"), GP64()), Load(Param("ldy"), GP64())
	k.alpha, k.own, k.acc = c.Reg(), c.Reg(), c.Reg()
	c.Broadcast(lanes.Arg("alpha"), k.alpha)
	k.lane, k.j, k.at, k.stride = GP64(), GP64(), GP64(), c.stride()
	return k
}

// entry adds entry j of a row to the sum of the row and, if it is before the diagonal, to the row
// of y of its column.
func (k *diagonalKernel) entry() {
	TESTQ(k.masks, k.masks)
	JZ(LabelRef("present"))
	mask := GP64()
	MOVWLZX(Mem{Base: k.masks, Index: k.j, Scale: 2}, mask.As32())
	BTL(k.lane.As32(), mask.As32())
	JCC(LabelRef("missing"))
	Label("present")
	f, from, to := k.Reg(), GP64(), GP64()
	k.Broadcast(Mem{Base: k.at}, f)
	PREFETCHT0(Mem{Base: k.at, Disp: aheadBytes})
	MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, from)
	MOVQ(from, to)
	IMULQ(k.ldx, from)
	ADDQ(k.x, from)
	PREFETCHT0(Mem{Base: from, Index: k.ldx, Scale: aheadRows})
	k.FMA(Mem{Base: from}, f, k.acc)
	CMPQ(k.j, lanes.Arg("before"))
	JGE(LabelRef("missing"))
	IMULQ(k.ldy, to)
	ADDQ(k.y, to)
	PREFETCHT0(Mem{Base: to, Index: k.ldy, Scale: aheadRows})
	k.Mul(k.own, f, f)
	k.add(f, k.alpha, Mem{Base: to})
	Label("missing")
}

// nextSlice moves past the values and masks of a slice.
func (k *diagonalKernel) nextSlice() {
	MOVQ(lanes.Arg("width"), k.j)
	TESTQ(k.masks, k.masks)
	JZ(LabelRef("whole"))
	LEAQ(Mem{Base: k.masks, Index: k.j, Scale: 2}, k.masks)
	Label("whole")
	IMULQ(k.stride, k.j)
	ADDQ(k.j, k.val)
}
