// Command minmax generates the kernel that finds the least and the greatest index.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	minMax()
	Generate()
}

// minMax generates the least and the greatest of at least eight indices. If their number is not a
// multiple of eight, it reads the last eight again.
func minMax() {
	lanes.Func("minMaxAVX2", "func(idx []int32) (lo, hi int32)",
		"computes MinMax of at least eight indices.")
	p := Load(Param("idx").Base(), GP64())
	n := Load(Param("idx").Len(), GP64())
	lo, hi, v := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: p}, lo)
	VMOVDQA(lo, hi)
	last, k := GP64(), GP64()
	LEAQ(Mem{Base: n, Disp: -8}, last)
	MOVQ(U32(8), k)
	Label("loop")
	CMPQ(k, last)
	JG(LabelRef("rest"))
	VMOVDQU(Mem{Base: p, Index: k, Scale: 4}, v)
	VPMINSD(v, lo, lo)
	VPMAXSD(v, hi, hi)
	ADDQ(Imm(8), k)
	JMP(LabelRef("loop"))
	Label("rest")
	VMOVDQU(Mem{Base: p, Index: last, Scale: 4}, v)
	VPMINSD(v, lo, lo)
	VPMAXSD(v, hi, hi)
	h := XMM()
	VEXTRACTI128(Imm(1), lo, h)
	VPMINSD(h, lo.AsX(), lo.AsX())
	VEXTRACTI128(Imm(1), hi, h)
	VPMAXSD(h, hi.AsX(), hi.AsX())
	for _, shuffle := range []uint64{0b01001110, 0b10110001} {
		VPSHUFD(Imm(shuffle), lo.AsX(), h)
		VPMINSD(h, lo.AsX(), lo.AsX())
		VPSHUFD(Imm(shuffle), hi.AsX(), h)
		VPMAXSD(h, hi.AsX(), hi.AsX())
	}
	a, b := GP32(), GP32()
	VMOVD(lo.AsX(), a)
	VMOVD(hi.AsX(), b)
	Store(a, ReturnIndex(0))
	Store(b, ReturnIndex(1))
	VZEROUPPER()
	RET()
}
