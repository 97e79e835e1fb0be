package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// join generates the kernel that reads the first k of so many segments.
func join(l lanes.Lanes, segments, k int) {
	fn := fmt.Sprintf("join%dof%d%s", k, segments, l.Suffix())
	lanes.Func(fn, "func(dst *float64, src *byte, step, n int)",
		"joins the first segments of n values, a multiple of 8. Those of one kind", "lie side by side, the next kind begins step bytes further.")
	size := 8 / segments // bytes of a segment
	dst := Load(Param("dst"), GP64())
	n := Load(Param("n"), GP64())
	step := Load(Param("step"), GP64())
	src := make([]Register, k)
	src[0] = Load(Param("src"), GP64())
	for s := 1; s < k; s++ {
		src[s] = GP64()
		LEAQ(Mem{Base: src[s-1], Index: step, Scale: 1}, src[s])
	}
	i := GP64()
	XORQ(i, i)
	Label("next")
	for done := 0; done < 8; done += l.Count() {
		var v VecVirtual
		for s := range k {
			u := l.Reg()
			from := Mem{Base: src[s], Index: i, Scale: uint8(size), Disp: done * size}
			if size == 4 {
				VPMOVZXDQ(from, u)
			} else {
				VPMOVZXWQ(from, u)
			}
			if shift := 64 - 8*size*(s+1); shift > 0 {
				VPSLLQ(Imm(uint64(shift)), u, u)
			}
			if s == 0 {
				v = u
			} else {
				VORPD(u, v, v)
			}
		}
		l.Store(v, Mem{Base: dst, Index: i, Scale: 8, Disp: 8 * done})
	}
	for s := range k {
		PREFETCHT0(Mem{Base: src[s], Index: i, Scale: uint8(size), Disp: ahead})
	}
	ADDQ(Imm(8), i)
	CMPQ(i, n)
	JLT(LabelRef("next"))
	VZEROUPPER()
	RET()
}
