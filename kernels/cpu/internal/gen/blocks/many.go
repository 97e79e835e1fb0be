package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// together returns the number of block rows that are summed together: as many as have their sums in
// registers.
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

// many has the registers of a kernel for several vectors.
type many struct {
	lanes.Part
	height                  int // rows of a block
	widths, masks, val, idx Register
	ldx, next               Register
	acc                     [][]VecVirtual // for each lane and each row of its block
	left, j                 GPVirtual
	at                      []GPVirtual // address of the row of x of each lane
}

// multiplyMany generates the kernel for blocks of height rows and any number of columns, and one register
// of columns of y. A call multiplies together lanes of each slice.
func multiplyMany(p lanes.Part, height int) {
	name, count := fmt.Sprintf("manyBlocks%d%s", height, p.Suffix()), together(p, height)
	p.FuncOf(name, "manyBlockArgs[V]", "n int, widths *uint32, masks *uint16, first int, val *V, idx *int32, columns int, x *V, ldx int, y *V, ldy int, order *uint16, rows int, alpha, beta V, last int, reads, stream bool, next uintptr, step int",
		fmt.Sprintf("multiplies %d of the lanes of each slice by one register of columns; see manyBlockArgs.", count))
	k := beginMany(p, height, count)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for i := range k.acc {
		for _, a := range k.acc[i] {
			k.Zero(a)
		}
	}
	MOVL(Mem{Base: k.widths}, k.left.As32())
	ADDL(Mem{Base: k.widths, Disp: 4}, k.left.As32())
	JEQ(LabelRef("finish"))
	Label("block")
	k.product()
	DECQ(k.left)
	JNZ(LabelRef("block"))
	Label("finish")
	k.finish()
	ADDQ(Imm(8), k.widths)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginMany loads the arguments that have registers.
func beginMany(p lanes.Part, height, count int) *many {
	k := &many{Part: p, height: height}
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

// product adds one block of each lane that has one. In full columns all lanes have a block; in
// masked columns there is a mask.
func (k *many) product() {
	mask := GP64()
	MOVQ(I32(-1), mask)
	CMPL(k.left.As32(), Mem{Base: k.widths, Disp: 4})
	JGT(LabelRef("place"))
	first := GP64()
	MOVWLZX(Mem{Base: k.masks}, mask.As32())
	MOVQ(lanes.Arg("first"), first)
	SHRXL(first.As32(), mask.As32(), mask.As32())
	ADDQ(Imm(2), k.masks)
	Label("place")
	for i, g := range k.at {
		MOVL(Mem{Base: k.idx, Disp: 4 * i}, g.As32())
		IMULQ(k.ldx, g)
		ADDQ(lanes.Arg("x"), g)
	}
	MOVQ(lanes.Arg("columns"), k.j)
	Label("column")
	for line := 0; line < k.height*k.Bytes()*len(k.at)/k.Count(); line += 64 {
		PREFETCHT1(Mem{Base: k.next, Disp: line})
	}
	ADDQ(lanes.Arg("step"), k.next)
	for i, g := range k.at {
		missing := fmt.Sprintf("missing%d", i)
		BTL(Imm(uint64(i)), mask.As32())
		JCC(LabelRef(missing))
		b := k.Reg()
		k.LoadPart(Mem{Base: g}, b)
		for r, a := range k.acc[i] {
			k.FMABroadcast(Mem{Base: k.val, Disp: (r*k.Count() + i) * k.Size()}, b, a)
		}
		ADDQ(k.ldx, g)
		Label(missing)
	}
	ADDQ(U32(k.height*k.Bytes()), k.val)
	DECQ(k.j)
	JNZ(LabelRef("column"))
	ADDQ(Imm(uint64(4*k.Count())), k.idx)
}

// finish writes the rows of y of the lanes that have a block row.
func (k *many) finish() {
	order, alpha, beta := GP64(), k.Reg(), k.Reg()
	MOVQ(lanes.Arg("order"), order)
	k.Broadcast(lanes.Arg("alpha"), alpha)
	k.Broadcast(lanes.Arg("beta"), beta)
	for _, acc := range k.acc {
		for _, a := range acc {
			k.Mul(alpha, a, a)
		}
	}
	for i, row := range k.at {
		CMPQ(lanes.Arg("rows"), Imm(uint64(i)))
		JLE(LabelRef("placed"))
		MOVWLZX(Mem{Base: order, Disp: 2 * i}, row.As32())
		IMUL3Q(Imm(uint64(k.height)), row, row)
		IMULQ(lanes.Arg("ldy"), row)
		ADDQ(lanes.Arg("y"), row)
	}
	Label("placed")
	ADDQ(Imm(uint64(2*k.Count())), order)
	MOVQ(order, lanes.Arg("order"))
	rows := k.multiples()
	CMPB(lanes.Arg("reads"), Imm(0))
	JEQ(LabelRef("overwrite"))
	k.eachRow("overwrite", rows, func(m Mem, a VecVirtual) { k.FMAPart(m, beta, a) })
	Label("overwrite")
	CMPB(lanes.Arg("stream"), Imm(0))
	JNE(LabelRef("stream"))
	k.eachRow("next", rows, func(m Mem, a VecVirtual) { k.StorePart(a, m) })
	JMP(LabelRef("next"))
	Label("stream")
	k.eachRow("next", rows, func(m Mem, a VecVirtual) { k.Stream(a, m) })
	Label("next")
	SUBQ(Imm(uint64(k.Count())), lanes.Arg("rows"))
}

// multiples returns, for each row of a block, the index and scale that give its address relative to
// the first row.
func (k *many) multiples() []Mem {
	ldy := Load(Param("ldy"), GP64())
	rows := []Mem{{}, {Index: ldy, Scale: 1}}
	for r := 2; r < k.height; r++ {
		if r%2 > 0 {
			odd := GP64()
			IMUL3Q(Imm(uint64(r)), ldy, odd)
			rows = append(rows, Mem{Index: odd, Scale: 1})
			continue
		}
		m := rows[r/2]
		m.Scale *= 2
		rows = append(rows, m)
	}
	return rows
}

// eachRow generates do for every row of y and its sum. After the last block row it jumps to label
// end.
func (k *many) eachRow(end string, rows []Mem, do func(m Mem, a VecVirtual)) {
	for i, at := range k.at {
		CMPQ(lanes.Arg("rows"), Imm(uint64(i)))
		JLE(LabelRef(end))
		for r, m := range rows {
			m.Base = at
			do(m, k.acc[i][r])
		}
	}
}
