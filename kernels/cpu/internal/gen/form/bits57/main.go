// Command bits57 generates the loop that packs values in 57 bits.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	// Byte i of eight packed values is byte i/7*8 + i%7 of the values in words.
	GLOBL("join57", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(uint8(i/7*8+i%7)))
	}
	lanes.Func("pack57", "func(n int, val *float64, low uint64, out *byte) (done int)",
		"packs groups of eight values with Values57.pack until one has an exponent out of range:",
		"",
		"\tfor done < n && pack(val[8*done:], out[57*done:]) {",
		"\t\tdone++",
		"\t}",
		"",
		"n > 0. low is Low<<53. It writes 7 bytes after the last group.")
	n := Load(Param("n"), GP64())
	val := Load(Param("val"), GP64())
	low := Load(Param("low"), GP64())
	out := Load(Param("out"), GP64())
	lows, join := ZMM(), ZMM()
	VPBROADCASTQ(low, lows)
	VMOVDQU64(NewDataAddr(Symbol{Name: "join57", Static: true}, 0), join)
	word := func(w uint64) VecVirtual {
		v := ZMM()
		lanes.SetWord(w, v)
		return v
	}
	codes, bit, rest := word(16<<53), word(1<<55), word(1<<55-1)
	v, code, bad, high, g, done := ZMM(), ZMM(), K(), K(), GP32(), GP64()
	XORQ(done, done)

	Label("eight")
	VMOVDQU64(Mem{Base: val}, v)
	VPSLLQ(Imm(1), v, code) // without the sign
	VPSUBQ(lows, code, code)
	const notLess = 5
	VPCMPUQ(Imm(notLess), codes, code, bad)
	KMOVB(bad, g)
	TESTL(g, g)
	JNZ(LabelRef("end"))
	VPSRLQ(Imm(1), code, code)
	VPTESTMQ(bit, code, high)
	VPANDQ(rest, code, code)
	VPSRLQ(Imm(8), v, v)
	VPANDQ(bit, v, v)
	VPORQ(v, code, code)
	VPERMB(code, join, code)
	VMOVDQU64(code, Mem{Base: out})
	KMOVB(high, Mem{Base: out, Disp: 56})
	ADDQ(Imm(64), val)
	ADDQ(Imm(57), out)
	INCQ(done)
	DECQ(n)
	JNZ(LabelRef("eight"))
	Label("end")
	Store(done, ReturnIndex(0))
	VZEROUPPER()
	RET()
	Generate()
}
