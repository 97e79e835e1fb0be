package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

const (
	masks = "masksOfFirst"
	most  = 16 // most entries of a row that is summed together with three others
)

// defineMasks defines most elements with all bits set, then most without: the mask of the first n
// elements begins n elements before the second part.
func defineMasks() {
	GLOBL(masks, RODATA|NOPTR)
	for i := range most {
		DATA(8*i, U64(math.MaxUint64))
	}
	for i := range most {
		DATA(8*(most+i), U64(0))
	}
}

// few sums a block of rows with few entries: it writes the products of all entries, then sums four
// rows at a time without a branch on the length of a row. It jumps to direct for blocks of too many
// entries, for blocks in which most rows have as many entries as a row before, which the processor
// predicts, and if something is out of range.
func (k *rower) few() {
	end, stop, entries := k.end(), GP64(), GP64()
	MOVQ(Mem{Base: k.ptr, Index: k.stop, Scale: 8}, stop)
	CMPQ(stop, end)
	JG(LabelRef("direct"))
	MOVQ(stop, entries)
	SUBQ(k.k, entries)
	longest := k.survey()
	k.short(longest, entries, end, stop)
	Label("longer")
	CMPB(lanes.Arg("predicted"), Imm(0))
	JNE(LabelRef("direct"))
	k.alike(entries)
	CMPQ(entries, U32(blockRows*rowProducts))
	JA(LabelRef("varied"))
	Label("few")

	products, t := GP64(), GP64()
	MOVQ(lanes.Arg("work"), products)
	k.scaled(k.k, t)
	SUBQ(t, products)
	ADDQ(U32(uint32((blockRows+beside)*k.Size())), products)
	k.multiply(products, end, stop)

	k.rewind()
	table := k.table()
	ways := []int{}
	for n := 32 / k.Size(); n < most; n *= 2 {
		ways = append(ways, n)
	}
	way := func(n int) string { return fmt.Sprintf("atMost%d", n) }
	for _, n := range ways {
		CMPQ(longest, Imm(uint64(n)))
		JLE(LabelRef(way(n)))
	}
	k.mixed(products, table)
	for _, n := range ways {
		Label(way(n))
		k.four(n, products, table)
		CMPQ(k.i, k.stop)
		JL(LabelRef(way(n)))
		JMP(LabelRef("finish"))
	}
}

// survey returns the number of entries of the longest row of a block, and counts in k.same the rows
// with as many entries as the fourth row before them. It jumps to direct if a pointer decreases.
func (k *rower) survey() GPVirtual {
	r := GP64()
	MOVQ(k.r, r)
	longest, now, t := YMM(), YMM(), YMM()
	VPXOR(longest, longest, longest)
	VPXOR(k.same, k.same, k.same)
	ptr := Mem{Base: k.ptr, Index: r, Scale: 8}
	Label("survey")
	VMOVDQU(ptr.Offset(8), now)
	VPSUBQ(ptr, now, now)
	VPMAXUD(now, longest, longest) // the upper halves of lengths are 0 if none is negative
	VPCMPEQQ(now, k.before, t)
	VPSUBQ(t, k.same, k.same)
	VMOVDQA(now, k.before)
	ADDQ(Imm(4), r)
	CMPQ(r, k.stop)
	JL(LabelRef("survey"))

	length := across(longest, func(a, b, dst Op) { VPMAXUD(a, b, dst) })
	CMPQ(length, U32(math.MaxInt32))
	JA(LabelRef("direct"))
	return length
}

// alike jumps to direct if rows have at least seven entries on average and seven in eight have as
// many as the fourth row before them.
func (k *rower) alike(entries GPVirtual) {
	other, n := across(k.same, func(a, b, dst Op) { VPADDQ(a, b, dst) }), GP64()
	MOVQ(k.stop, n)
	SUBQ(k.r, n)
	NEGQ(other)
	ADDQ(n, other)
	SHLQ(Imm(3), other)
	CMPQ(other, n)
	JG(LabelRef("unlike"))
	IMUL3Q(Imm(7), n, n)
	CMPQ(entries, n)
	JGE(LabelRef("direct"))
	Label("unlike")
}

// across combines the four 64-bit words of a register. v is overwritten.
func across(v VecVirtual, op func(a, b, dst Op)) GPVirtual {
	h, g := XMM(), GP64()
	VEXTRACTI128(Imm(1), v, h)
	op(h, v.AsX(), v.AsX())
	VPSHUFD(Imm(0b01001110), v.AsX(), h)
	op(h, v.AsX(), v.AsX())
	VMOVQ(v.AsX(), g)
	return g
}

// multiply writes the products of the entries up to stop, eight at a time. The last ones may be of
// later rows, or of earlier rows at the end of the entries. end is the index after the last entry.
func (k *rower) multiply(products, end, stop GPVirtual) {
	last, t := YMM(), GP64()
	k.lastIndex(last)
	SUBQ(Imm(8), end)
	CMPQ(end, Mem{Base: k.ptr})
	JL(LabelRef("direct"))

	at := GP64()
	MOVQ(k.k, at)
	Label("products")
	CMPQ(at, end)
	CMOVQGT(end, at)
	k.prefetch(at)
	all, least := YMM(), YMM()
	VMOVDQU(k.index(at, 0), all)
	VPMINUD(last, all, least)
	VPCMPEQD(all, least, least)
	VPMOVMSKB(least, t.As32())
	CMPL(t.As32(), I32(-1))
	JNE(LabelRef("direct"))
	for i, v := range k.load8(k.places(at)) {
		i *= 32 / k.Size()
		k.Mul(k.value(at, i), v, v)
		VMOVUPS(v, Mem{Base: products, Index: at, Scale: uint8(k.Size()), Disp: k.Size() * i})
	}
	ADDQ(Imm(8), at)
	CMPQ(at, stop)
	JL(LabelRef("products"))
}

// first sums the products of the next row to one register. The row has at most n entries and ends
// at the entry in memory end.
func (k *rower) first(n int, end Mem, products, table GPVirtual) VecVirtual {
	next, minus := GP64(), GP64()
	MOVQ(end, next)
	MOVQ(k.k, minus)
	SUBQ(next, minus)
	var v []VecVirtual
	for at := 0; at < n*k.Size(); at += 32 {
		part := YMM()
		VMOVUPS(Mem{Base: products, Index: k.k, Scale: uint8(k.Size()), Disp: at}, part)
		VANDPS(Mem{Base: table, Index: minus, Scale: uint8(k.Size()), Disp: at}, part, part)
		v = append(v, part)
	}
	for ; len(v) > 1; v = v[:len(v)/2] {
		for i, part := range v[len(v)/2:] {
			k.Add(part, v[i], v[i])
		}
	}
	MOVQ(next, k.k)
	return v[0]
}

// four sums the next four rows, of at most n entries each.
func (k *rower) four(n int, products, table GPVirtual) {
	v := make([]VecVirtual, 4)
	for i := range v {
		v[i] = k.first(n, Mem{Base: k.ptr, Index: k.i, Scale: 8, Disp: 8 * (i + 1)}, products, table)
	}
	k.StoreSums(v, Mem{Base: k.sums, Index: k.i, Scale: uint8(k.Size())})
	ADDQ(Imm(4), k.i)
}

// mixed sums rows of any length: four of at most most entries each together, others one by one.
func (k *rower) mixed(products, table GPVirtual) {
	limit, longer, t := YMM(), YMM(), GP64()
	MOVQ(U32(most), t)
	VMOVQ(t, limit.AsX())
	VPBROADCASTQ(limit.AsX(), limit)
	ptr := Mem{Base: k.ptr, Index: k.i, Scale: 8}
	Label("mixed")
	VMOVDQU(ptr.Offset(8), longer)
	VPSUBQ(ptr, longer, longer)
	VPCMPGTQ(limit, longer, longer)
	VPMOVMSKB(longer, t.As32())
	TESTL(t.As32(), t.As32())
	JNZ(LabelRef("long"))
	k.four(most, products, table)
	CMPQ(k.i, k.stop)
	JL(LabelRef("mixed"))
	JMP(LabelRef("finish"))

	Label("long")
	until, left, acc := GP64(), GP64(), YMM()
	LEAQ(Mem{Base: k.i, Disp: 4}, until)
	Label("each")
	MOVQ(ptr.Offset(8), left)
	SUBQ(k.k, left)
	VXORPS(acc, acc, acc)
	SUBQ(Imm(8), left)
	JL(LabelRef("last"))
	Label("whole")
	for at := 0; at < 8*k.Size(); at += 32 {
		k.Add(Mem{Base: products, Index: k.k, Scale: uint8(k.Size()), Disp: at}, acc, acc)
	}
	ADDQ(Imm(8), k.k)
	SUBQ(Imm(8), left)
	JGE(LabelRef("whole"))
	Label("last")
	k.Add(k.first(8, ptr.Offset(8), products, table), acc, acc)
	k.MoveOne(reduce(k.Lanes, acc), Mem{Base: k.sums, Index: k.i, Scale: uint8(k.Size())})
	INCQ(k.i)
	CMPQ(k.i, until)
	JL(LabelRef("each"))
	CMPQ(k.i, k.stop)
	JL(LabelRef("mixed"))
	JMP(LabelRef("finish"))
}
