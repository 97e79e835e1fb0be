// Command slices generates the kernels of slices: one row of the matrix per lane.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineShifts()
	for _, l := range lanes.All() {
		for _, v := range lanes.ValuesOf(l) {
			slice(l, v, 2)
			slice(l, v, 4)
		}
	}
	Generate()
}

// slice generates a kernel of Slices whose indices have so many bytes.
func slice(l lanes.Lanes, values lanes.Values, indexBytes int) {
	name := fmt.Sprintf("slices%s%d%s", values.Name, 8*indexBytes, l.Suffix())
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, val, idx *byte, x, table, sums *%s)", l.Type()))
	Pragma("noescape")
	Doc(name + " is multiplySlices for the case in its name.")

	n := Load(Param("n"), GP64())
	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	x := Load(Param("x"), GP64())
	table := Load(Param("table"), GP64())
	sums := Load(Param("sums"), GP64())
	column := values.Begin(l, table)
	mask := l.NewMask()
	acc, left := l.Reg(), GP64()

	// product adds one column to acc.
	product := func(fma func(a Op, b, acc VecVirtual)) {
		PREFETCHT0(Mem{Base: val, Disp: 2048})
		PREFETCHT0(Mem{Base: idx, Disp: 1024})
		b := l.Gather(x, func(lane int, to GPVirtual) {
			from := Mem{Base: idx, Disp: lane * indexBytes}
			if indexBytes == 2 {
				MOVWLZX(from, to.As32())
			} else {
				MOVL(from, to.As32())
			}
		})
		fma(column(Mem{Base: val}), b, acc)
		if bytes := values.Bytes(l); bytes > 0 {
			ADDQ(Imm(uint64(bytes)), val)
		}
		ADDQ(Imm(uint64(indexBytes*l.Count())), idx)
	}

	Label("slice")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	l.Zero(acc)
	lanes.EachColumn(func() Register { return widths }, left, "store", func() { product(l.FMA) }, func() {
		mask.Load(Mem{Base: masks})
		product(mask.FMA)
		ADDQ(Imm(2), masks)
	})
	Label("store")
	l.Store(acc, Mem{Base: sums})
	ADDQ(Imm(uint64(l.Bytes())), sums)
	ADDQ(Imm(8), widths)
	DECQ(n)
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}
