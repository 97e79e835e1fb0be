// Command copy_transposed generates the assembly that transposes tiles of vectors.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

func main() {
	for _, l := range lanes.Halves() {
		tiles(l, 4, four)
		tiles(l, 2, two)
	}
	Generate()
	for _, l := range neon.All {
		tilesNEON(l, 4)
		tilesNEON(l, 2)
	}
	neon.WriteFiles()
}

// tiles generates the kernel for tiles of side rows and columns; transpose transposes one tile.
func tiles(l lanes.Lanes, side int, transpose func(l lanes.Lanes, from, to func(row, byte int) Mem)) {
	name := fmt.Sprintf("transpose%d%sAVX2", side, l.TypeName())
	l.Func(name, "func(n int, from *V, ldf, stepf int, to *V, ldt, stept int)",
		"transposes n > 0 tiles: for i and j less than the number in its name,",
		"",
		"\tfor t := range n {",
		"\t\tto[t*stept + j*ldt + i] = from[t*stepf + i*ldf + j]",
		"\t}",
		"",
		"stepf, ldf, stept and ldt are bytes.")
	n := Load(Param("n"), GP64())
	place := func(of, ld string) (Register, func(row, byte int) Mem) {
		at, next := Load(Param(of), GP64()), Load(Param(ld), GP64())
		three := GP64()
		LEAQ(Mem{Base: next, Index: next, Scale: 2}, three)
		return at, func(row, byte int) Mem {
			m := Mem{Base: at, Disp: byte}
			if row > 0 {
				m.Index, m.Scale = next, uint8(row)
			}
			if row == 3 {
				m.Index, m.Scale = three, 1
			}
			return m
		}
	}
	at, from := place("from", "ldf")
	to, rows := place("to", "ldt")
	Label("tile")
	transpose(l, from, rows)
	ADDQ(lanes.Arg("stepf"), at)
	ADDQ(lanes.Arg("stept"), to)
	DECQ(n)
	JNZ(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// two transposes a tile of 2 x 2.
func two(l lanes.Lanes, from, to func(row, byte int) Mem) {
	a, b := XMM(), XMM()
	if l.Double {
		first := XMM()
		VMOVUPD(from(0, 0), a)
		VMOVUPD(from(1, 0), b)
		VUNPCKLPD(b, a, first)
		VMOVUPD(first, to(0, 0))
		VUNPCKHPD(b, a, a)
		VMOVUPD(a, to(1, 0))
		return
	}
	VMOVSD(from(0, 0), a)
	VMOVSD(from(1, 0), b)
	VUNPCKLPS(b, a, a)
	VMOVLPS(a, to(0, 0))
	VMOVHPS(a, to(1, 0))
}

// four transposes a tile of 4 x 4.
func four(l lanes.Lanes, from, to func(row, byte int) Mem) {
	if l.Double {
		for half := range 2 { // columns 0 and 1, then 2 and 3
			var r [2]VecVirtual // rows 0 and 2, rows 1 and 3
			for i := range r {
				r[i] = YMM()
				VMOVUPD(from(i, 16*half), r[i].AsX())
				VINSERTF128(Imm(1), from(i+2, 16*half), r[i], r[i])
			}
			first := YMM()
			VUNPCKLPD(r[1], r[0], first)
			VMOVUPD(first, to(2*half, 0))
			VUNPCKHPD(r[1], r[0], r[0])
			VMOVUPD(r[0], to(2*half+1, 0))
		}
		return
	}
	var r [4]VecVirtual
	for i := range r {
		r[i] = XMM()
		VMOVUPS(from(i, 0), r[i])
	}
	for half, unpack := range []func(ops ...Op){VUNPCKLPS, VUNPCKHPS} {
		a, b, first := XMM(), XMM(), XMM()
		unpack(r[1], r[0], a) // columns 2*half and 2*half+1 of rows 0 and 1
		unpack(r[3], r[2], b)
		VUNPCKLPD(b, a, first)
		VMOVUPS(first, to(2*half, 0))
		VUNPCKHPD(b, a, a)
		VMOVUPS(a, to(2*half+1, 0))
	}
}
