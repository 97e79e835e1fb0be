package lanes

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Bits57 is values in 57 bits, in float64 kernels of 512 bits; see Values57 in package form. The
// table argument of the function points to the cursor. A load reads 7 bytes more than it needs.
// Uncompressed must follow the function.
var Bits57 = Values{
	"Bits57",
	func(Lanes) int { return 57 },
	func(Lanes, Register) func(Mem) Op {
		// Registers that only AVX-512 can address: the others stay free for Gather.
		low, spread, keep, eight := Z31, Z30, Z29, Z28
		apart, t, high := GP64(), GP64(), K()
		MOVQ(Arg("table"), t)
		VPBROADCASTQ(Mem{Base: t}, low)
		VMOVDQU64(static("spread57"), spread)
		SetWord(1<<63|1<<55-1, keep)
		SetWord(8<<52, eight)
		nextUncompressed(apart, t)
		return func(at Mem) Op {
			v, label := ZMM(), fmt.Sprintf("uncompressed%d", len(outside))
			outside = append(outside, func() { loadUncompressed(label, v, apart, t) })
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

// outside has the code that Uncompressed will generate.
var outside []func()

// Uncompressed generates the loads of uncompressed groups, after the last RET of a function.
func Uncompressed() {
	for _, f := range outside {
		f()
	}
	outside = nil
}

// The offsets of the fields of cursor57 in package form.
const (
	cursorBytes = 8 * (1 + iota)
	cursorApart
	cursorPlain
	cursorIndex
)

// loadUncompressed loads the next uncompressed group of eight values.
func loadUncompressed(label string, v VecVirtual, apart, t GPVirtual) {
	Label(label)
	MOVQ(Arg("table"), t)
	MOVQ(Mem{Base: t, Disp: cursorIndex}, apart)
	SHLQ(Imm(6), apart)
	ADDQ(Mem{Base: t, Disp: cursorPlain}, apart)
	VMOVDQU64(Mem{Base: apart}, v)
	INCQ(Mem{Base: t, Disp: cursorIndex})
	nextUncompressed(apart, t)
	JMP(LabelRef(label + "Done"))
}

// nextUncompressed sets apart to the address of the next uncompressed group. The cursor is at t.
func nextUncompressed(apart, t GPVirtual) {
	MOVQ(Mem{Base: t, Disp: cursorIndex}, apart)
	SHLQ(Imm(3), apart)
	ADDQ(Mem{Base: t, Disp: cursorApart}, apart)
	MOVQ(Mem{Base: apart}, apart)
	ADDQ(Mem{Base: t, Disp: cursorBytes}, apart)
}

// SetWord fills a register with a 64-bit word.
func SetWord(word uint64, v Register) {
	g := GP64()
	MOVQ(U64(word), g)
	VPBROADCASTQ(g, v)
}

// DefineSpread defines the data of Bits57, once per file: byte i of value k is byte 7k+i; byte 7
// repeats byte 6.
func DefineSpread() {
	GLOBL("spread57", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(uint8(i/8*7+min(i%8, 6))))
	}
}
