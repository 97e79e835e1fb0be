// Command lines generates loops over listed cache lines of a vector.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	each("copyLinesAVX2", "byte", "computes, for n > 0 lines of 64 bytes,\n\n\tfor i, l := range lines {\n\t\tothers[i] = x[l]\n\t}", func(listed, other Mem, r VecVirtual) {
		VMOVUPS(listed, r)
		VMOVUPS(r, other)
	})
	for _, l := range []lanes.Lanes{{Double: true}, {}} {
		each("addLines"+l.Suffix(), l.Type(), "computes, for n > 0 lines of 64 bytes,\n\n\tfor i, l := range lines {\n\t\tx[l] += others[i]\n\t}", func(listed, other Mem, r VecVirtual) {
			VMOVUPS(listed, r)
			l.Add(other, r, r)
			VMOVUPS(r, listed)
		})
	}
	Generate()
}

const (
	line     = 64
	register = 32
	// ahead is the number of lines by which the listed lines are prefetched.
	ahead = 24
)

// each generates a loop over n > 0 listed lines of x; do is called for each register of a listed
// line and of the corresponding line of others.
func each(name, typ, doc string, do func(listed, other Mem, r VecVirtual)) {
	lanes.Func(name, "func(x, others *"+typ+", lines *int32, n int)", doc)
	x := Load(Param("x"), GP64())
	others := Load(Param("others"), GP64())
	lines := Load(Param("lines"), GP64())
	left := Load(Param("n"), GP64())
	at := GP64()
	loop := func(label string, prefetch bool) {
		Label(label)
		if prefetch {
			MOVLQSX(Mem{Base: lines, Disp: 4 * ahead}, at)
			SHLQ(Imm(6), at)
			PREFETCHT0(Mem{Base: x, Index: at, Scale: 1})
		}
		MOVLQSX(Mem{Base: lines}, at)
		SHLQ(Imm(6), at)
		for r := range line / register {
			do(Mem{Base: x, Index: at, Scale: 1, Disp: register * r}, Mem{Base: others, Disp: register * r}, YMM())
		}
		ADDQ(Imm(4), lines)
		ADDQ(Imm(line), others)
		DECQ(left)
		JNZ(LabelRef(label))
	}
	asked := GP64()
	MOVQ(left, asked)
	SUBQ(Imm(ahead), asked)
	JLE(LabelRef("few"))
	MOVQ(asked, left)
	loop("prefetching", true)
	MOVQ(U32(ahead), left)
	Label("few")
	loop("last", false)
	VZEROUPPER()
	RET()
}
