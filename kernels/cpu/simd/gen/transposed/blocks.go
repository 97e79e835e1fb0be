package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// blocks generates a kernel. For each column of the blocks of a slice, one in each lane,
// products are added up in a register, which is written to sums; then each lane adds its
// sums to y one by one.
func blocks(l lanes.Lanes, values lanes.Values) {
	name := "blocksTransposed" + values.Name + l.Suffix()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, val *byte, idx *int32, height int, table, factors, y *%[1]s, first int, sums *%[1]s, end int)", l.Type()))
	Pragma("noescape")
	Doc(name+" is addTransposed for the case in its name. sums has end elements, a",
		"register for each column of a block.")
	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	table := Load(Param("table"), GP64())
	factors := Load(Param("factors"), GP64())
	y := Load(Param("y"), GP64())
	column := values.Begin(l, table)
	full, all, mask := GP64(), GP64(), GP64()
	f, left, sum := GP64(), GP64(), GP64()
	// y is where column 0 would be, and end an address.
	MOVQ(lanes.Arg("first"), f)
	IMUL3Q(U32(l.Size()), f, f)
	SUBQ(f, y)
	MOVQ(lanes.Arg("end"), f)
	IMUL3Q(U32(l.Size()), f, f)
	ADDQ(lanes.Arg("sums"), f)
	MOVQ(f, lanes.Arg("end"))

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JE(LabelRef("done"))
	MOVL(Mem{Base: widths}, full.As32())
	MOVL(Mem{Base: widths, Disp: 4}, all.As32())
	ADDQ(full, all)
	JZ(LabelRef("next"))
	Label("column")
	MOVQ(I32(-1), mask)
	DECQ(full)
	JGE(LabelRef("sums"))
	MOVWLZX(Mem{Base: masks}, mask.As32())
	ADDQ(Imm(2), masks)
	Label("sums")
	MOVQ(lanes.Arg("sums"), sum)
	Label("sum")
	acc := l.Reg()
	l.Zero(acc)
	MOVQ(factors, f)
	MOVQ(lanes.Arg("height"), left)
	Label("entry")
	v := l.Reg()
	l.Load(Mem{Base: f}, v)
	l.FMA(column(Mem{Base: val}), v, acc)
	ADDQ(U32(values.Bytes(l)), val)
	ADDQ(U32(l.Bytes()), f)
	DECQ(left)
	JNZ(LabelRef("entry"))
	l.Store(acc, Mem{Base: sum})
	ADDQ(U32(l.Bytes()), sum)
	CMPQ(sum, lanes.Arg("end"))
	JB(LabelRef("sum"))

	for lane := range l.Count() {
		skip, add := fmt.Sprintf("skip%d", lane), fmt.Sprintf("add%d", lane)
		TESTL(U32(1<<lane), mask.As32())
		JZ(LabelRef(skip))
		at := f
		MOVLQSX(Mem{Base: idx, Disp: 4 * lane}, at)
		LEAQ(Mem{Base: y, Index: at, Scale: uint8(l.Size())}, at)
		MOVQ(lanes.Arg("sums"), sum)
		Label(add)
		one := XMM()
		if l.Double {
			VMOVSD(Mem{Base: sum, Disp: 8 * lane}, one)
			VADDSD(Mem{Base: at}, one, one)
			VMOVSD(one, Mem{Base: at})
		} else {
			VMOVSS(Mem{Base: sum, Disp: 4 * lane}, one)
			VADDSS(Mem{Base: at}, one, one)
			VMOVSS(one, Mem{Base: at})
		}
		ADDQ(Imm(uint64(l.Size())), at)
		ADDQ(U32(l.Bytes()), sum)
		CMPQ(sum, lanes.Arg("end"))
		JB(LabelRef(add))
		Label(skip)
	}
	ADDQ(U32(4*l.Count()), idx)
	DECQ(all)
	JNZ(LabelRef("column"))
	Label("next")
	ADDQ(Imm(8), widths)
	MOVQ(lanes.Arg("height"), left)
	IMUL3Q(U32(l.Bytes()), left, left)
	ADDQ(left, factors)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
	lanes.Apart()
}
