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
	lanes.DefineSpread()
	for _, l := range lanes.All() {
		for height := 2; height <= 8; height++ {
			blocks(l, lanes.Full, height)
			if l.Double {
				blocks(l, lanes.Short, height)
				blocks(l, lanes.High32, height)
			}
			if l.Double && l.Long {
				blocks(l, lanes.Bits57, height)
			}
		}
	}
	Generate()
}

// blocks generates the kernel for blocks of so many rows and any number of columns.
func blocks(l lanes.Lanes, values lanes.Values, height int) {
	name := fmt.Sprintf("blocks%s%d%s", values.Name, height, l.Suffix())
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, val *byte, idx *int32, columns int, x, table, sums *%s)", l.Type()))
	Pragma("noescape")
	Doc(name + " is MultiplyBlocks for the case in its name.")

	val := Load(Param("val"), GP64())
	column := values.Begin(l, Load(Param("table"), GP64()))
	bytes := values.Bytes(l)
	mask := l.NewMask()
	acc := make([]VecVirtual, height)
	for i := range acc {
		acc[i] = l.Reg()
	}
	left, j, xj, t := GP64(), GP64(), GP64(), GP64()

	// product adds one block of each lane. Where they have registers, indices are loaded
	// once.
	product := func(name string, fma func(a Op, b, acc VecVirtual)) {
		var gather func() VecVirtual
		MOVQ(lanes.Arg("idx"), t)
		load := func(lane int, to GPVirtual) { MOVL(Mem{Base: t, Disp: 4 * lane}, to.As32()) }
		if l.Count() <= 8 {
			index := make([]GPVirtual, l.Count())
			for lane := range index {
				index[lane] = GP64()
				load(lane, index[lane])
			}
			gather = func() VecVirtual {
				return l.GatherFrom(func(lane int) Mem { return Mem{Base: xj, Index: index[lane], Scale: uint8(l.Size())} })
			}
		} else {
			gather = func() VecVirtual { return l.Gather(xj, load) }
		}
		MOVQ(lanes.Arg("x"), xj)
		MOVQ(lanes.Arg("columns"), j)
		Label(name)
		b := gather()
		for i := range height {
			fma(column(Mem{Base: val, Disp: i * bytes}), b, acc[i])
		}
		ADDQ(U32(height*bytes), val)
		ADDQ(Imm(uint64(l.Size())), xj)
		DECQ(j)
		JNZ(LabelRef(name))
		ADDQ(Imm(uint64(4*l.Count())), lanes.Arg("idx"))
	}

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for _, a := range acc {
		l.Zero(a)
	}
	MOVQ(lanes.Arg("widths"), t)
	MOVL(Mem{Base: t}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("full")
	product("fullColumn", l.FMA)
	DECQ(left)
	JNZ(LabelRef("full"))
	Label("tail")
	MOVQ(lanes.Arg("widths"), t)
	MOVL(Mem{Base: t, Disp: 4}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("store"))
	Label("masked")
	MOVQ(lanes.Arg("masks"), t)
	mask.Load(Mem{Base: t})
	product("maskedColumn", mask.FMA)
	ADDQ(Imm(2), lanes.Arg("masks"))
	DECQ(left)
	JNZ(LabelRef("masked"))
	Label("store")
	MOVQ(lanes.Arg("sums"), t)
	for i, a := range acc {
		l.Store(a, Mem{Base: t, Disp: i * l.Bytes()})
	}
	ADDQ(U32(height*l.Bytes()), lanes.Arg("sums"))
	ADDQ(Imm(8), lanes.Arg("widths"))
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
	lanes.Apart()
}
