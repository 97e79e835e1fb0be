// Command manyblocks generates the assembly that multiplies dense blocks by several
// vectors at once.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineCounts()
	for _, l := range lanes.All() {
		for height := 2; height <= 8; height++ {
			blocks(lanes.Part{Lanes: l}, height)
		}
	}
	Generate()
}

// together is how many rows of blocks are summed at once: as many as there are
// registers for.
func together(p lanes.Part, height int) int {
	registers := 10
	if p.Long {
		registers = 24
	}
	n := 4
	for n*height > registers {
		n /= 2
	}
	return n
}

// kernel is the registers of a kernel.
type kernel struct {
	lanes.Part
	height                  int // of a block
	widths, masks, val, idx Register
	ldx, next               Register
	acc                     [][]VecVirtual // of each lane, for each row of its block
	left, j                 GPVirtual
	at                      []GPVirtual // the row of x of each lane
}

// blocks generates the kernel for blocks of so many rows and any number of columns,
// and one register of columns of y. A call serves as many lanes of each slice as are
// summed at once.
func blocks(p lanes.Part, height int) {
	name, count := fmt.Sprintf("manyBlocks%d%s", height, p.Suffix()), together(p, height)
	p.Func(name, "func(n int, widths *uint32, masks *uint16, first int, val *V, idx *int32, columns int, x *V, ldx int, y *V, ldy int, order *uint16, rows int, alpha, beta V, last int, reads, stream bool, next uintptr, step int)",
		fmt.Sprintf("is manyBlockKernel for the case in its name: for %d lanes.", count))
	k := begin(p, height, count)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for i := range k.acc {
		for _, a := range k.acc[i] {
			k.Zero(a)
		}
	}
	lanes.EachColumn(func() Register { return k.widths }, k.left, "finish",
		func() { k.product("fullColumn", nil) }, k.masked)
	Label("finish")
	k.finish()
	ADDQ(Imm(8), k.widths)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// begin loads the arguments that have registers.
func begin(p lanes.Part, height, count int) *kernel {
	k := &kernel{Part: p, height: height}
	k.widths = Load(Param("widths"), GP64())
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	k.idx = Load(Param("idx"), GP64())
	k.ldx = Load(Param("ldx"), GP64())
	k.next = Load(Param("next"), GP64())
	k.SetMask(Load(Param("last"), GP64()))
	k.acc = make([][]VecVirtual, count)
	for i := range k.acc {
		for range height {
			k.acc[i] = append(k.acc[i], k.Reg())
		}
	}
	k.left, k.j = GP64(), GP64()
	k.at = make([]GPVirtual, count)
	for i := range k.at {
		k.at[i] = GP64()
	}
	return k
}

// masked adds the blocks of lanes of which some have none.
func (k *kernel) masked() {
	mask, first := GP64(), GP64()
	MOVWLZX(Mem{Base: k.masks}, mask.As32())
	MOVQ(lanes.Arg("first"), first)
	SHRXL(first.As32(), mask.As32(), mask.As32())
	k.product("maskedColumn", mask)
	ADDQ(Imm(2), k.masks)
}

// product adds one block of each lane, of those in the mask if there is one.
func (k *kernel) product(name string, mask Register) {
	for i, g := range k.at {
		MOVL(Mem{Base: k.idx, Disp: 4 * i}, g.As32())
		IMULQ(k.ldx, g)
		ADDQ(lanes.Arg("x"), g)
	}
	MOVQ(lanes.Arg("columns"), k.j)
	Label(name)
	for line := 0; line < k.height*k.Bytes()*len(k.at)/k.Count(); line += 64 {
		PREFETCHT1(Mem{Base: k.next, Disp: line})
	}
	ADDQ(lanes.Arg("step"), k.next)
	for i, g := range k.at {
		skip := fmt.Sprintf("%sLane%d", name, i)
		if mask != nil {
			BTL(Imm(uint64(i)), mask.(GPVirtual).As32())
			JCC(LabelRef(skip))
		}
		b := k.Reg()
		k.LoadPart(Mem{Base: g}, b)
		for r, a := range k.acc[i] {
			k.FMABroadcast(Mem{Base: k.val, Disp: (r*k.Count() + i) * k.Size()}, b, a)
		}
		ADDQ(k.ldx, g)
		if mask != nil {
			Label(skip)
		}
	}
	ADDQ(U32(k.height*k.Bytes()), k.val)
	DECQ(k.j)
	JNZ(LabelRef(name))
	ADDQ(Imm(uint64(4*k.Count())), k.idx)
}

// finish writes the rows of y, of as many rows of blocks as there are left.
func (k *kernel) finish() {
	order, row := GP64(), GP64()
	MOVQ(lanes.Arg("order"), order)
	alpha, beta := k.Reg(), k.Reg()
	k.Broadcast(lanes.Arg("alpha"), alpha)
	k.Broadcast(lanes.Arg("beta"), beta)
	for i := range k.acc {
		CMPQ(lanes.Arg("rows"), Imm(uint64(i)))
		JLE(LabelRef("next"))
		MOVWLZX(Mem{Base: order, Disp: 2 * i}, row.As32())
		IMUL3Q(Imm(uint64(k.height)), row, row)
		IMULQ(lanes.Arg("ldy"), row)
		ADDQ(lanes.Arg("y"), row)
		for r, a := range k.acc[i] {
			k.FinishRow(fmt.Sprintf("row%dof%d", r, i), row, []VecVirtual{a}, alpha, func(_ int, m Mem, a VecVirtual) { k.FMAPart(m, beta, a) })
			ADDQ(lanes.Arg("ldy"), row)
		}
	}
	Label("next")
	ADDQ(Imm(uint64(2*k.Count())), order)
	MOVQ(order, lanes.Arg("order"))
	SUBQ(Imm(uint64(k.Count())), lanes.Arg("rows"))
}
