// Command lines generates loops over the cache lines of a vector that a list names.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	each("copyLinesAVX2", "byte", "copies n lines of x that are listed to places that follow each other.", func(listed, other Mem, r VecVirtual) {
		VMOVUPS(listed, r)
		VMOVUPS(r, other)
	})
	for _, l := range []lanes.Lanes{{Double: true}, {}} {
		each("addLines"+l.Suffix(), l.Type(), "adds to n lines of x that are listed what lies in places that follow each other.", func(listed, other Mem, r VecVirtual) {
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
	// ahead is how many lines before their turn the listed ones are asked for.
	ahead = 24
)

// each generates a loop over n > 0 lines of x; do gets each register of the line that is listed and
// of that in its turn.
func each(name, typ, doc string, do func(listed, other Mem, r VecVirtual)) {
	lanes.Func(name, "func(x, others *"+typ+", lines *int32, n int)", doc)
	x := Load(Param("x"), GP64())
	others := Load(Param("others"), GP64())
	lines := Load(Param("lines"), GP64())
	left := Load(Param("n"), GP64())
	at := GP64()
	loop := func(label string, ask bool) {
		Label(label)
		if ask {
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
	loop("asking", true)
	MOVQ(U32(ahead), left)
	Label("few")
	loop("last", false)
	VZEROUPPER()
	RET()
}
