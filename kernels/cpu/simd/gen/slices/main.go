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
	l.Func(name, "func(n int, widths *uint32, masks *uint16, val, idx *byte, x, table, sums *V, keep int, ahead *byte, step, valuesAhead, indicesAhead int)",
		"is multiplySlices for the case in its name. keep is -1 to add to sums, else 0.",
		"For each slice it asks for the line at ahead, which goes on by step bytes, and for each column",
		"for values and indices so many bytes ahead.")

	n := Load(Param("n"), GP64())
	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	x := Load(Param("x"), GP64())
	table := Load(Param("table"), GP64())
	sums := Load(Param("sums"), GP64())
	ahead := Load(Param("ahead"), GP64())
	valuesAhead := Load(Param("valuesAhead"), GP64())
	indicesAhead := Load(Param("indicesAhead"), GP64())
	column := values.Begin(l, table)
	mask := l.NewMask()
	acc, keep, left := l.Reg(), l.Reg(), GP64()
	VPBROADCASTQ(lanes.Arg("keep"), keep)

	// place is where the element of x for a lane lies.
	index := func(lane int) Mem { return Mem{Base: idx, Disp: lane * indexBytes} }
	short := lanes.ShortIndices(index)
	place := func(lane int) Mem {
		if indexBytes == 2 {
			return Mem{Base: x, Index: short(lane), Scale: uint8(l.Size())}
		}
		g := GP64()
		MOVL(index(lane), g.As32())
		return Mem{Base: x, Index: g, Scale: uint8(l.Size())}
	}
	// product adds one column to acc.
	product := func(fma func(a Op, b, acc VecVirtual)) {
		if values.Bytes(l) > 0 {
			PREFETCHT1(Mem{Base: val, Index: valuesAhead, Scale: 1})
		}
		PREFETCHT1(Mem{Base: idx, Index: indicesAhead, Scale: 1})
		b := l.GatherFrom(place)
		fma(column(Mem{Base: val}), b, acc)
		if bytes := values.Bytes(l); bytes > 0 {
			ADDQ(Imm(uint64(bytes)), val)
		}
		ADDQ(Imm(uint64(indexBytes*l.Count())), idx)
	}

	Label("slice")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	PREFETCHT1(Mem{Base: ahead})
	ADDQ(lanes.Arg("step"), ahead)
	if l.Long {
		VPANDQ(Mem{Base: sums}, keep, acc)
	} else {
		VANDPS(Mem{Base: sums}, keep, acc)
	}
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
