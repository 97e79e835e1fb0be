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

// blocks generates the kernel for blocks of so many rows and any number of columns,
// and one register of columns of y. A call serves as many lanes of each slice as are
// summed at once.
func blocks(p lanes.Part, height int) {
	name, size, count := fmt.Sprintf("manyBlocks%d%s", height, p.Suffix()), p.Size(), together(p, height)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, first int, val *%[1]s, idx *int32, columns int, x *%[1]s, ldx int, y *%[1]s, ldy int, order *uint16, rows int, alpha, beta %[1]s, last int, reads, stream bool, next uintptr, step int)", p.Type()))
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is manyBlockKernel for the case in its name: for %d lanes.", name, count))

	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	ldx := Load(Param("ldx"), GP64())
	next := Load(Param("next"), GP64())
	p.SetMask(Load(Param("last"), GP64()))
	acc := make([][]VecVirtual, count)
	for i := range acc {
		for range height {
			acc[i] = append(acc[i], p.Reg())
		}
	}
	left, j := GP64(), GP64()
	at := make([]GPVirtual, count) // the rows of x
	for i := range at {
		at[i] = GP64()
	}

	// product adds one block of each lane, of those in the mask if there is one.
	product := func(name string, mask Register) {
		for i, g := range at {
			MOVL(Mem{Base: idx, Disp: 4 * i}, g.As32())
			IMULQ(ldx, g)
			ADDQ(lanes.Arg("x"), g)
		}
		MOVQ(lanes.Arg("columns"), j)
		Label(name)
		for line := 0; line < height*p.Bytes()*count/p.Count(); line += 64 {
			PREFETCHT1(Mem{Base: next, Disp: line})
		}
		ADDQ(lanes.Arg("step"), next)
		for i, g := range at {
			skip := fmt.Sprintf("%sLane%d", name, i)
			if mask != nil {
				BTL(Imm(uint64(i)), mask.(GPVirtual).As32())
				JCC(LabelRef(skip))
			}
			b := p.Reg()
			p.LoadPart(Mem{Base: g}, b)
			for r, a := range acc[i] {
				p.FMABroadcast(Mem{Base: val, Disp: (r*p.Count() + i) * size}, b, a)
			}
			ADDQ(ldx, g)
			if mask != nil {
				Label(skip)
			}
		}
		ADDQ(U32(height*p.Bytes()), val)
		DECQ(j)
		JNZ(LabelRef(name))
		ADDQ(Imm(uint64(4*p.Count())), idx)
	}

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for i := range acc {
		for _, a := range acc[i] {
			p.Zero(a)
		}
	}
	MOVL(Mem{Base: widths}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("full")
	product("fullColumn", nil)
	DECQ(left)
	JNZ(LabelRef("full"))
	Label("tail")
	MOVL(Mem{Base: widths, Disp: 4}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("finish"))
	Label("masked")
	mask, first := GP64(), GP64()
	MOVWLZX(Mem{Base: masks}, mask.As32())
	MOVQ(lanes.Arg("first"), first)
	SHRXL(first.As32(), mask.As32(), mask.As32())
	product("maskedColumn", mask)
	ADDQ(Imm(2), masks)
	DECQ(left)
	JNZ(LabelRef("masked"))

	Label("finish")
	order, row := GP64(), GP64()
	MOVQ(lanes.Arg("order"), order)
	alpha, beta := p.Reg(), p.Reg()
	p.Broadcast(lanes.Arg("alpha"), alpha)
	p.Broadcast(lanes.Arg("beta"), beta)
	for i := range acc {
		CMPQ(lanes.Arg("rows"), Imm(uint64(i)))
		JLE(LabelRef("next"))
		MOVWLZX(Mem{Base: order, Disp: 2 * i}, row.As32())
		IMUL3Q(Imm(uint64(height)), row, row)
		IMULQ(lanes.Arg("ldy"), row)
		ADDQ(lanes.Arg("y"), row)
		for r, a := range acc[i] {
			p.FinishRow(fmt.Sprintf("row%dof%d", r, i), row, []VecVirtual{a}, alpha, func(_ int, m Mem, a VecVirtual) { p.FMAPart(m, beta, a) })
			ADDQ(lanes.Arg("ldy"), row)
		}
	}
	Label("next")
	ADDQ(Imm(uint64(2*p.Count())), order)
	MOVQ(order, lanes.Arg("order"))
	SUBQ(Imm(uint64(p.Count())), lanes.Arg("rows"))
	ADDQ(Imm(8), widths)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}
