package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// short sums a block of rows of at most four entries: each row loads four elements of x, and a mask
// clears those of later rows. It jumps to longer if a row has more entries; to few if rows have
// less than 2.5 entries on average, if near is not set, or if fewer than eight entries follow the
// block; and to direct if an index is out of range.
func (k *rower) short(longest, entries, end, stop GPVirtual) {
	t := GP64()
	CMPQ(longest, Imm(4))
	JG(LabelRef("longer"))
	MOVQ(k.stop, t)
	SUBQ(k.r, t)
	IMUL3Q(Imm(5), t, t)
	SHRQ(Imm(1), t)
	CMPQ(entries, t)
	JL(LabelRef("few"))
	CMPB(k.near, Imm(0))
	JEQ(LabelRef("few"))
	LEAQ(Mem{Base: stop, Disp: 8}, t)
	CMPQ(t, end)
	JG(LabelRef("few"))
	last := YMM()
	k.lastIndex(last)
	at, all, least := GP64(), YMM(), YMM()
	VPXOR(all, all, all)
	MOVQ(k.k, at)
	Label("check") // eights up to the one that begins at stop or before
	VPMAXUD(k.index(at, 0), all, all)
	ADDQ(Imm(8), at)
	CMPQ(at, stop)
	JL(LabelRef("check"))
	VPMAXUD(k.index(stop, 0), all, all)
	VPMINUD(last, all, least)
	VPCMPEQD(all, least, least)
	VPMOVMSKB(least, t.As32())
	CMPL(t.As32(), I32(-1))
	JNE(LabelRef("direct"))

	k.rewind()
	table := k.table()
	Label("short")
	rows := make([]VecVirtual, 4)
	for r := range rows {
		rows[r] = k.shortRow(r, Mem{Base: k.ptr, Index: k.i, Scale: 8, Disp: 8 * (r + 1)}, table)
	}
	sums := Mem{Base: k.sums, Index: k.i, Scale: uint8(k.Size())}
	if k.Double {
		k.StoreSums(rows, sums)
	} else {
		VHADDPS(rows[1], rows[0], rows[0])
		VHADDPS(rows[3], rows[2], rows[2])
		VHADDPS(rows[2], rows[0], rows[0])
		VMOVUPS(rows[0], sums)
	}
	ADDQ(Imm(4), k.i)
	CMPQ(k.i, k.stop)
	JL(LabelRef("short"))
	JMP(LabelRef("finish"))
}

// shortRow returns the products of the next row, at most four, with zeros after them. The row ends
// at the entry in memory end.
func (k *rower) shortRow(row int, end Mem, table GPVirtual) VecVirtual {
	next, minus := GP64(), GP64()
	MOVQ(end, next)
	MOVQ(k.k, minus)
	SUBQ(next, minus)
	v := k.load(row, 4, k.places(k.k))
	k.Mul(k.value(k.k, 0), v, v)
	VANDPS(Mem{Base: table, Index: minus, Scale: uint8(k.Size())}, v, v)
	MOVQ(next, k.k)
	return v
}

// table returns the address of the mask of no elements.
func (k *rower) table() GPVirtual {
	table := GP64()
	LEAQ(NewDataAddr(Symbol{Name: masks, Static: true}, 8*most), table)
	return table
}

// lastIndex fills last with the greatest 32-bit index of x. It jumps to direct if x is empty.
func (k *rower) lastIndex(last VecVirtual) {
	highest, t := GP64(), GP64()
	MOVQ(lanes.Arg("cols"), t)
	DECQ(t)
	JL(LabelRef("direct"))
	MOVQ(U32(math.MaxInt32), highest)
	CMPQ(t, highest)
	CMOVQGT(highest, t)
	VMOVD(t.As32(), last.AsX())
	VPBROADCASTD(last.AsX(), last)
}
