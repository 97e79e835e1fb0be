package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// rows generates the kernel of HeadRows: four entries at a time, then one by one.
func rows(v values, w int, masks func(w int) Mem) {
	fn := fmt.Sprintf("headRows%sX%dAVX2", v.name, w)
	lanes.FuncOf(fn, "headRowArgs", "y *float64, rows int, ptr *int64, idx *int32, val *byte, step int, x *byte",
		"is for the values (Ones, Plain or segments) and the width of x in its name; see headRowArgs.")
	e := entries{v: v, w: w}
	y := Load(Param("y"), GP64())
	n := Load(Param("rows"), GP64())
	ptr := Load(Param("ptr"), GP64())
	e.idx = Load(Param("idx"), GP64())
	e.seg = v.begin()
	e.x = Load(Param("x"), GP64())
	e.mask = YMM()
	if w < 8 {
		VMOVUPD(masks(w), e.mask)
	}
	e.k = GP64()
	left := GP64()
	XORQ(e.k, e.k)
	four, one, rest := YMM(), XMM(), YMM()
	lo, hi := XMM(), XMM()

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
	e.addFour(four, lo, hi, rest)
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
	e.addOne(one, lo)
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

// entries are the entries of rows, from entry k on.
type entries struct {
	v         values
	seg       []Register
	w         int        // bytes of an element of x
	mask      VecVirtual // mask of these bytes
	idx, k, x Register
}

// at returns the element of x of entry k+i.
func (e entries) at(i int) Mem {
	g := GP64()
	MOVL(Mem{Base: e.idx, Index: e.k, Scale: 4, Disp: 4 * i}, g.As32())
	return head(e.x, g, e.w)
}

// addFour adds the products of four entries to the elements of acc. It overwrites the other
// registers.
func (e entries) addFour(acc, lo, hi, all VecVirtual) {
	VMOVSD(e.at(0), lo)
	VMOVHPD(e.at(1), lo, lo)
	VMOVSD(e.at(2), hi)
	VMOVHPD(e.at(3), hi, hi)
	VINSERTF128(Imm(1), hi, lo.AsY(), all)
	keep(all, e.mask, e.w)
	if e.v.size > 0 {
		VFMADD231PD(e.v.load(lanes.Lanes{Double: true}, e.seg, e.k, 0), all, acc)
	} else {
		VADDPD(all, acc, acc)
	}
	PREFETCHT0(Mem{Base: e.idx, Index: e.k, Scale: 4, Disp: ahead})
	e.v.prefetch(e.seg, e.k)
	ADDQ(Imm(4), e.k)
}

// addOne adds the product of one entry to the lowest element of acc. It overwrites v.
func (e entries) addOne(acc, v VecVirtual) {
	VMOVSD(e.at(0), v)
	keep(v, e.mask.AsX(), e.w)
	if e.v.size > 0 {
		VFMADD231SD(e.v.loadOne(e.seg, e.k), v, acc)
	} else {
		VADDSD(v, acc, acc)
	}
	INCQ(e.k)
}
