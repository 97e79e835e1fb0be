package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// multiply57 generates the kernel for values in 57 bits and blocks of any height. Memory limits it, so
// it uses masks in all columns (all ones in full columns) and has one copy of the code of each row:
// a block of lower height enters after the code of the first rows.
func multiply57() {
	l := lanes.Lanes{Double: true, Long: true}
	l.FuncOf("blocksBits57"+l.Suffix(), "blockArgs[V]", fields, "is for values in 57 bits and blocks of any height; see blockArgs.")
	k := begin(l, lanes.Bits57, most)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for _, a := range k.acc {
		l.Zero(a)
	}
	MOVL(Mem{Base: k.widths()}, k.left.As32())
	ADDL(Mem{Base: k.t, Disp: 4}, k.left.As32())
	JEQ(LabelRef("store"))
	Label("block")
	k.mask.Fill()
	CMPL(k.left.As32(), Mem{Base: k.widths(), Disp: 4})
	JGT(LabelRef("full"))
	MOVQ(lanes.Arg("masks"), k.t)
	k.mask.Load(Mem{Base: k.t})
	ADDQ(Imm(2), lanes.Arg("masks"))
	Label("full")
	MOVQ(lanes.Arg("idx"), k.t)
	gather := k.gather()
	MOVQ(lanes.Arg("x"), k.xj)
	MOVQ(lanes.Arg("columns"), k.j)
	Label("column")
	ADDQ(lanes.Arg("bytes"), k.val)
	CMPQ(lanes.Arg("ahead"), Imm(0))
	JEQ(LabelRef("prefetched"))
	rows("prefetch", func(i int) { PREFETCHT0(Mem{Base: k.val, Disp: aheadBytes + (i-most)*k.bytes}) })
	Label("prefetched")
	b := gather()
	rows("row", func(i int) { k.mask.FMA(k.column(Mem{Base: k.val, Disp: (i - most) * k.bytes}), b, k.acc[i]) })
	ADDQ(Imm(uint64(k.Size())), k.xj)
	DECQ(k.j)
	JNZ(LabelRef("column"))
	ADDQ(Imm(uint64(4*k.Count())), lanes.Arg("idx"))
	DECQ(k.left)
	JNZ(LabelRef("block"))
	Label("store")
	MOVQ(lanes.Arg("height"), k.t)
	SHLQ(Imm(6), k.t) // bytes of a register for each row
	ADDQ(lanes.Arg("sums"), k.t)
	MOVQ(k.t, lanes.Arg("sums"))
	rows("sum", func(i int) { l.Store(k.acc[i], Mem{Base: k.t, Disp: (i - most) * l.Bytes()}) })
	ADDQ(Imm(8), lanes.Arg("widths"))
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
	lanes.Uncompressed()
}

// rows generates do for each row of a block. The last row has the highest number.
func rows(name string, do func(i int)) {
	enter(name, least, most)
	for i := range most {
		if height := most - i; height >= least {
			Label(fmt.Sprint(name, "Of", height))
		}
		do(i)
	}
}

// enter jumps to the first row of blocks with a height of lo ... hi, by binary search.
func enter(name string, lo, hi int) {
	if lo == hi {
		if hi < most { // the code of the highest blocks follows
			JMP(LabelRef(fmt.Sprint(name, "Of", hi)))
		}
		return
	}
	mid := (lo + hi + 1) / 2
	upper := fmt.Sprint(name, "From", mid)
	CMPQ(lanes.Arg("height"), Imm(uint64(mid)))
	JGE(LabelRef(upper))
	enter(name, lo, mid-1)
	Label(upper)
	enter(name, mid, hi)
}
