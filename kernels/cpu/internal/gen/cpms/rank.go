package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// rank generates the kernel of Rank for vectors of one width, four nodes at a time. With folded
// weights it divides by the degree.
func rank(w int, masks func(w int) Mem, folded bool) {
	fn := fmt.Sprintf("rankStored%dAVX2", w)
	if folded {
		fn = fmt.Sprintf("rankFolded%dAVX2", w)
	}
	lanes.Func(fn, "func(sum *float64, n int, cur, next *byte, degree *int32, damping, add float64) float64",
		"computes Rank for n nodes, a multiple of 4:",
		"",
		"\tfor i := range n {",
		"\t\tp := damping*sum[i] + add",
		"\t\tnext[i] = truncate(p / degree[i])",
		"\t\tdiff += abs(next[i]-cur[i]) * degree[i]",
		"\t}",
		"",
		"In rankStored degree is 1. cur points 8 bytes before the end of its first value, next to its first value.")
	sum := Load(Param("sum"), GP64())
	n := Load(Param("n"), GP64())
	cur := Load(Param("cur"), GP64())
	next := Load(Param("next"), GP64())
	degree := Load(Param("degree"), GP64())
	damping, add := YMM(), YMM()
	VBROADCASTSD(NewParamAddr("damping", 40), damping)
	VBROADCASTSD(NewParamAddr("add", 48), add)
	mask, abs, diff := YMM(), YMM(), YMM()
	VMOVUPD(masks(w), mask)
	VMOVUPD(masks(absolute), abs)
	VXORPD(diff, diff, diff)
	p, old, d := YMM(), YMM(), YMM()

	Label("next")
	VMOVUPD(Mem{Base: sum}, p)
	VFMADD213PD(add, damping, p)
	if folded {
		VCVTDQ2PD(Mem{Base: degree}, d)
		VDIVPD(d, p, p)
		ADDQ(Imm(16), degree)
	}
	keep(p, mask, w)
	loadHeads(cur, w, mask, old)
	VSUBPD(old, p, old)
	VANDPD(abs, old, old)
	if folded {
		VFMADD231PD(d, old, diff)
	} else {
		VADDPD(old, diff, diff)
	}
	storeHeads(p, next, w)
	ADDQ(Imm(32), sum)
	ADDQ(Imm(uint64(4*w)), cur)
	ADDQ(Imm(uint64(4*w)), next)
	SUBQ(Imm(4), n)
	JNZ(LabelRef("next"))

	hi := XMM()
	VEXTRACTF128(Imm(1), diff, hi)
	VADDPD(diff.AsX(), hi, hi)
	VUNPCKHPD(hi, hi, p.AsX())
	VADDSD(p.AsX(), hi, hi)
	Store(hi, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// loadHeads loads four consecutive values.
func loadHeads(from Register, w int, mask, v VecVirtual) {
	switch w {
	case 8:
		VMOVUPD(Mem{Base: from}, v)
	case 4:
		VPMOVZXDQ(Mem{Base: from, Disp: 4}, v)
		VPSLLQ(Imm(32), v, v)
	default:
		lo, hi := XMM(), XMM()
		VMOVSD(Mem{Base: from}, lo)
		VMOVHPD(Mem{Base: from, Disp: w}, lo, lo)
		VMOVSD(Mem{Base: from, Disp: 2 * w}, hi)
		VMOVHPD(Mem{Base: from, Disp: 3 * w}, hi, hi)
		VINSERTF128(Imm(1), hi, lo.AsY(), v)
		keep(v, mask, w)
	}
}

// storeHeads stores four consecutive values and nothing after them, because another goroutine may
// write there.
func storeHeads(v VecVirtual, to Register, w int) {
	hi := XMM()
	switch w {
	case 8:
		VMOVUPD(v, Mem{Base: to})
	case 4:
		VEXTRACTF128(Imm(1), v, hi)
		VSHUFPS(Imm(0xdd), hi, v.AsX(), hi)
		VMOVUPS(hi, Mem{Base: to})
	default:
		g := GP64()
		VEXTRACTF128(Imm(1), v, hi)
		for i, half := range []VecVirtual{v.AsX().(VecVirtual), hi} {
			for j := range 2 {
				VPEXTRQ(Imm(uint64(j)), half, g)
				SHRQ(Imm(16), g)
				MOVL(g.As32(), Mem{Base: to, Disp: w * (2*i + j)})
				SHRQ(Imm(32), g)
				MOVW(g.As16(), Mem{Base: to, Disp: w*(2*i+j) + 4})
			}
		}
	}
}
