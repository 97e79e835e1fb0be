package lanes

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Bits57 is values in 57 bits, in float64 kernels of 512 bits; see Values57 in package
// simd. The argument table of the function points to its cursor. A register reads 7 bytes
// more than it needs. Apart must follow the function.
var Bits57 = Values{
	"Bits57",
	func(Lanes) int { return 57 },
	func(Lanes, Register) func(Mem) Op {
		// Registers that only instructions of AVX-512 know: the others stay free for Gather.
		low, spread, keep, eight := Z31, Z30, Z29, Z28
		apart, t, high := GP64(), GP64(), K()
		MOVQ(Arg("table"), t)
		VPBROADCASTQ(Mem{Base: t}, low)
		VMOVDQU64(static("spread57"), spread)
		SetWord(1<<63|1<<55-1, keep)
		SetWord(8<<52, eight)
		nextApart(apart, t)
		return func(at Mem) Op {
			v, label := ZMM(), fmt.Sprintf("apart%d", len(outside))
			outside = append(outside, func() { standsApart(label, v, apart, t) })
			LEAQ(at, t)
			CMPQ(t, apart)
			JEQ(LabelRef(label))
			VPERMB(at, spread, v)
			KMOVB(at.Offset(56), high)
			VPANDQ(keep, v, v)
			VPADDQ(low, v, v)
			VPADDQ(eight, v, high, v)
			Label(label + "Done")
			return v
		}
	},
}

// outside is what Apart will generate.
var outside []func()

// Apart generates the loads of values that stand apart, behind the last RET of a function.
func Apart() {
	for _, f := range outside {
		f()
	}
	outside = nil
}

// Where cursor57 of package simd has its fields.
const (
	cursorBytes = 8 * (1 + iota)
	cursorApart
	cursorPlain
	cursorIndex
)

// standsApart loads the next eight values that stand apart.
func standsApart(label string, v VecVirtual, apart, t GPVirtual) {
	Label(label)
	MOVQ(Arg("table"), t)
	MOVQ(Mem{Base: t, Disp: cursorIndex}, apart)
	SHLQ(Imm(6), apart)
	ADDQ(Mem{Base: t, Disp: cursorPlain}, apart)
	VMOVDQU64(Mem{Base: apart}, v)
	INCQ(Mem{Base: t, Disp: cursorIndex})
	nextApart(apart, t)
	JMP(LabelRef(label + "Done"))
}

// nextApart sets the address of the next eight values that stand apart. The cursor is at t.
func nextApart(apart, t GPVirtual) {
	MOVQ(Mem{Base: t, Disp: cursorIndex}, apart)
	SHLQ(Imm(3), apart)
	ADDQ(Mem{Base: t, Disp: cursorApart}, apart)
	MOVQ(Mem{Base: apart}, apart)
	ADDQ(Mem{Base: t, Disp: cursorBytes}, apart)
}

// SetWord fills a register with a word of 64 bits.
func SetWord(word uint64, v Register) {
	g := GP64()
	MOVQ(U64(word), g)
	VPBROADCASTQ(g, v)
}

// DefineSpread defines the data that Bits57 needs, once in a file: byte i of value k is
// byte 7k+i, and the last one that before it again.
func DefineSpread() {
	GLOBL("spread57", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(uint8(i/8*7+min(i%8, 6))))
	}
}
