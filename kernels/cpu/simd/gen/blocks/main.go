// Command blocks generates the kernels of dense blocks: one row of blocks per lane.
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
	for _, l := range lanes.All() {
		for height := 2; height <= 8; height++ {
			blocks(l, lanes.Full, height)
			if l.Double {
				blocks(l, lanes.Short, height)
				blocks(l, lanes.High32, height)
			}
		}
	}
	Generate()
}

// blocks generates the kernel for blocks of so many rows and any number of columns.
func blocks(l lanes.Lanes, values lanes.Values, height int) {
	name := fmt.Sprintf("blocks%s%d%s", values.Name, height, l.Suffix())
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, val *byte, idx *int32, columns int, x, sums *%s)", l.Type()))
	Pragma("noescape")
	Doc(name + " is MultiplyBlocks for the case in its name.")

	n := Load(Param("n"), GP64())
	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	columns := Load(Param("columns"), GP64())
	x := Load(Param("x"), GP64())
	sums := Load(Param("sums"), GP64())
	column := values.Begin(l, nil)
	bytes := values.Bytes(l)
	mask := l.NewMask()
	acc := make([]VecVirtual, height)
	for i := range acc {
		acc[i] = l.Reg()
	}
	left, j, xj := GP64(), GP64(), GP64()

	// product adds one block of each lane.
	product := func(name string, fma func(a Op, b, acc VecVirtual)) {
		MOVQ(x, xj)
		MOVQ(columns, j)
		Label(name)
		b := l.Gather(xj, func(lane int, to GPVirtual) { MOVL(Mem{Base: idx, Disp: 4 * lane}, to.As32()) })
		for i := range height {
			fma(column(Mem{Base: val, Disp: i * bytes}), b, acc[i])
		}
		ADDQ(U32(height*bytes), val)
		ADDQ(Imm(uint64(l.Size())), xj)
		DECQ(j)
		JNZ(LabelRef(name))
		ADDQ(Imm(uint64(4*l.Count())), idx)
	}

	Label("slice")
	TESTQ(n, n)
	JZ(LabelRef("done"))
	for _, a := range acc {
		l.Zero(a)
	}
	MOVL(Mem{Base: widths}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("full")
	product("fullColumn", l.FMA)
	DECQ(left)
	JNZ(LabelRef("full"))
	Label("tail")
	MOVL(Mem{Base: widths, Disp: 4}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("store"))
	Label("masked")
	mask.Load(Mem{Base: masks})
	product("maskedColumn", mask.FMA)
	ADDQ(Imm(2), masks)
	DECQ(left)
	JNZ(LabelRef("masked"))
	Label("store")
	for i, a := range acc {
		l.Store(a, Mem{Base: sums, Disp: i * l.Bytes()})
	}
	ADDQ(U32(height*l.Bytes()), sums)
	ADDQ(Imm(8), widths)
	DECQ(n)
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}
