package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// blocker has the registers of a kernel of blocks.
type blocker struct {
	lanes.Lanes
	valueBytes                          int // bytes of one value per lane
	column                              func(at Mem) Op
	widths, masks, val, idx, factors, y Register // y is the address of column 0
	full, all, mask                     GPVirtual
	f, left, sum                        GPVirtual
}

// transposed generates a kernel of transposed products, whose sums are in memory, not in registers. For each column of the blocks of a slice, one block per lane, it sums
// products in a register and adds the lanes of the register to y one by one: directly if all lanes
// have a block, otherwise from sums, to which the register is stored, lane by lane of the mask.
func transposed(l lanes.Lanes, values lanes.Values) {
	name := "blocksTransposed" + values.Name + l.Suffix()
	l.FuncOf(name, "transposedBlockArgs[V]", "n int, widths *uint32, masks *uint16, val *byte, idx *int32, height int, table, factors, y *V, first int, sums *V, end int",
		"is for the storage, the type and the level in its name; see transposedBlockArgs.")
	b := beginBlocks(l, values)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JE(LabelRef("done"))
	MOVL(Mem{Base: b.widths}, b.full.As32())
	MOVL(Mem{Base: b.widths, Disp: 4}, b.all.As32())
	ADDQ(b.full, b.all)
	JZ(LabelRef("next"))
	Label("column")
	DECQ(b.full)
	JL(LabelRef("masked"))
	to := GP64()
	MOVQ(b.y, to)
	b.sums("full", func(acc VecVirtual) {
		b.AddEach(acc, func(lane int) Mem {
			MOVLQSX(Mem{Base: b.idx, Disp: 4 * lane}, b.f)
			return Mem{Base: to, Index: b.f, Scale: uint8(b.Size())}
		})
		ADDQ(Imm(uint64(b.Size())), to)
	})
	JMP(LabelRef("added"))
	Label("masked")
	MOVWLZX(Mem{Base: b.masks}, b.mask.As32())
	ADDQ(Imm(2), b.masks)
	b.sums("masked", func(acc VecVirtual) { b.Store(acc, Mem{Base: b.sum}) })
	for lane := range l.Count() {
		b.add(lane)
	}
	Label("added")
	ADDQ(U32(4*l.Count()), b.idx)
	DECQ(b.all)
	JNZ(LabelRef("column"))
	Label("next")
	ADDQ(Imm(8), b.widths)
	MOVQ(lanes.Arg("height"), b.left)
	IMUL3Q(U32(l.Bytes()), b.left, b.left)
	ADDQ(b.left, b.factors)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
	lanes.Uncompressed()
}

// beginBlocks loads the arguments that have registers, and makes end an address.
func beginBlocks(l lanes.Lanes, values lanes.Values) *blocker {
	b := &blocker{Lanes: l, valueBytes: values.Bytes(l)}
	b.widths = Load(Param("widths"), GP64())
	b.masks = Load(Param("masks"), GP64())
	b.val = Load(Param("val"), GP64())
	b.idx = Load(Param("idx"), GP64())
	table := Load(Param("table"), GP64())
	b.factors = Load(Param("factors"), GP64())
	b.y = Load(Param("y"), GP64())
	b.column = values.Begin(l, table)
	b.full, b.all, b.mask = GP64(), GP64(), GP64()
	b.f, b.left, b.sum = GP64(), GP64(), GP64()
	MOVQ(lanes.Arg("first"), b.f)
	IMUL3Q(U32(l.Size()), b.f, b.f)
	SUBQ(b.f, b.y)
	MOVQ(lanes.Arg("end"), b.f)
	IMUL3Q(U32(l.Size()), b.f, b.f)
	ADDQ(lanes.Arg("sums"), b.f)
	MOVQ(b.f, lanes.Arg("end"))
	return b
}

// sums computes the sums of the columns of a block, of all lanes, one column after the other.
func (b *blocker) sums(name string, use func(acc VecVirtual)) {
	MOVQ(lanes.Arg("sums"), b.sum)
	Label(name + "Sum")
	acc := b.Reg()
	b.Zero(acc)
	MOVQ(b.factors, b.f)
	MOVQ(lanes.Arg("height"), b.left)
	Label(name + "Entry")
	v := b.Reg()
	b.Load(Mem{Base: b.f}, v)
	b.FMA(b.column(Mem{Base: b.val}), v, acc)
	ADDQ(U32(b.valueBytes), b.val)
	ADDQ(U32(b.Bytes()), b.f)
	DECQ(b.left)
	JNZ(LabelRef(name + "Entry"))
	use(acc)
	ADDQ(U32(b.Bytes()), b.sum)
	CMPQ(b.sum, lanes.Arg("end"))
	JB(LabelRef(name + "Sum"))
}

// add adds the sums of a lane to y if the lane is in the mask.
func (b *blocker) add(lane int) {
	skip, next := fmt.Sprintf("skip%d", lane), fmt.Sprintf("add%d", lane)
	TESTL(U32(1<<lane), b.mask.As32())
	JZ(LabelRef(skip))
	MOVLQSX(Mem{Base: b.idx, Disp: 4 * lane}, b.f)
	LEAQ(Mem{Base: b.y, Index: b.f, Scale: uint8(b.Size())}, b.f)
	MOVQ(lanes.Arg("sums"), b.sum)
	Label(next)
	lanes.AddTo(b.Lanes, Mem{Base: b.sum, Disp: b.Size() * lane}, Mem{Base: b.f})
	ADDQ(Imm(uint64(b.Size())), b.f)
	ADDQ(U32(b.Bytes()), b.sum)
	CMPQ(b.sum, lanes.Arg("end"))
	JB(LabelRef(next))
	Label(skip)
}
