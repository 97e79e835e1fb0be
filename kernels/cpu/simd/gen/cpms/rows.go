package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// rows generates the kernel of HeadRows: four entries at a time, then one by one.
func rows(v values, w int, masks func(w int) Mem) {
	fn := fmt.Sprintf("headRows%sX%dAVX2", v.name, w)
	TEXT(fn, NOSPLIT, "func(y *float64, rows int, ptr *int64, idx *int32, val *byte, step int, x *byte)")
	Pragma("noescape")
	Doc(fn + " is HeadRows for the case in its name.")
	y := Load(Param("y"), GP64())
	n := Load(Param("rows"), GP64())
	ptr := Load(Param("ptr"), GP64())
	idx := Load(Param("idx"), GP64())
	seg := v.begin()
	x := Load(Param("x"), GP64())
	mask := YMM()
	if w < 8 {
		VMOVUPD(masks(w), mask)
	}
	k, left := GP64(), GP64()
	XORQ(k, k)
	four, one, rest := YMM(), XMM(), YMM()

	// at is element i behind k of x.
	at := func(i int) Mem {
		g := GP64()
		MOVL(Mem{Base: idx, Index: k, Scale: 4, Disp: 4 * i}, g.As32())
		return head(x, g, w)
	}

	Label("row")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	MOVQ(Mem{Base: ptr, Disp: 8}, left)
	SUBQ(Mem{Base: ptr}, left)
	VXORPD(one, one, one)
	SUBQ(Imm(4), left)
	JL(LabelRef("few"))
	VXORPD(four, four, four)
	Label("four")
	lo, hi := XMM(), XMM()
	VMOVSD(at(0), lo)
	VMOVHPD(at(1), lo, lo)
	VMOVSD(at(2), hi)
	VMOVHPD(at(3), hi, hi)
	VINSERTF128(Imm(1), hi, lo.AsY(), rest)
	keep(rest, mask, w)
	if v.size > 0 {
		VFMADD231PD(v.load(lanes.Lanes{Double: true}, seg, k, 0), rest, four)
	} else {
		VADDPD(rest, four, four)
	}
	PREFETCHT0(Mem{Base: idx, Index: k, Scale: 4, Disp: ahead})
	v.prefetch(seg, k)
	ADDQ(Imm(4), k)
	SUBQ(Imm(4), left)
	JGE(LabelRef("four"))
	VEXTRACTF128(Imm(1), four, one)
	VADDPD(four.AsX(), one, one)
	VUNPCKHPD(one, one, hi)
	VADDSD(hi, one, one)
	Label("few")
	ADDQ(Imm(4), left)
	JZ(LabelRef("store"))
	Label("one")
	VMOVSD(at(0), lo)
	keep(lo, mask.AsX(), w)
	if v.size > 0 {
		VFMADD231SD(v.loadOne(seg, k), lo, one)
	} else {
		VADDSD(lo, one, one)
	}
	INCQ(k)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("store")
	VMOVSD(one, Mem{Base: y})
	ADDQ(Imm(8), y)
	ADDQ(Imm(8), ptr)
	DECQ(n)
	JMP(LabelRef("row"))
	Label("done")
	VZEROUPPER()
	RET()
}
