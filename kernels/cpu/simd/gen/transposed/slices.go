package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// Elements of y are asked for so many entries before their turn, as those of package csr.
const (
	farAhead  = 128 // for the second cache
	nearAhead = 16  // for the first one
)

// slices generates a kernel of Slices whose indices have so many bytes. The products of a
// column are written to memory, and added to y one by one from there: lanes may have the
// same place.
func slices(l lanes.Lanes, values lanes.Values, indexBytes int) {
	name := fmt.Sprintf("slicesTransposed%s%d%s", values.Name, 8*indexBytes, l.Suffix())
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, val, idx *byte, table, factors, y *%[1]s, first, asks int, products *%[1]s)", l.Type()))
	Pragma("noescape")
	Doc(name+" is addSlicesTransposed for the case in its name. In the first asks columns",
		fmt.Sprintf("it asks for elements of y that are %d entries ahead. products has a register.", farAhead))
	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	table := Load(Param("table"), GP64())
	factors := Load(Param("factors"), GP64())
	y := Load(Param("y"), GP64())
	asks := Load(Param("asks"), GP64())
	products := Load(Param("products"), GP64())
	column := values.Begin(l, table)
	factor, left := l.Reg(), GP64()
	// y is where column 0 would be.
	MOVQ(lanes.Arg("first"), left)
	IMUL3Q(U32(l.Size()), left, left)
	SUBQ(left, y)

	// place is the element of y for an index at a place in memory.
	place := func(from Mem) Mem {
		at := GP64()
		if indexBytes == 2 {
			MOVWLZX(from, at.As32())
		} else {
			MOVL(from, at.As32())
		}
		return Mem{Base: y, Index: at, Scale: uint8(l.Size())}
	}
	add := func(product Mem, to Mem) {
		one := XMM()
		if l.Double {
			VMOVSD(product, one)
			VADDSD(to, one, one)
			VMOVSD(one, to)
		} else {
			VMOVSS(product, one)
			VADDSS(to, one, one)
			VMOVSS(one, to)
		}
	}
	// multiply writes the products of a column.
	multiply := func(asked string) {
		PREFETCHT0(Mem{Base: val, Disp: 2048})
		PREFETCHT0(Mem{Base: idx, Disp: 1024})
		DECQ(asks)
		JL(LabelRef(asked))
		for lane := range l.Count() {
			PREFETCHT1(place(Mem{Base: idx, Disp: indexBytes * (farAhead + lane)}))
			PREFETCHT0(place(Mem{Base: idx, Disp: indexBytes * (nearAhead + lane)}))
		}
		Label(asked)
		product := l.Reg()
		l.Mul(column(Mem{Base: val}), factor, product)
		l.Store(product, Mem{Base: products})
		if bytes := values.Bytes(l); bytes > 0 {
			ADDQ(Imm(uint64(bytes)), val)
		}
	}

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JE(LabelRef("done"))
	l.Load(Mem{Base: factors}, factor)
	MOVL(Mem{Base: widths}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("full")
	multiply("fullAsked")
	for lane := range l.Count() {
		add(Mem{Base: products, Disp: l.Size() * lane}, place(Mem{Base: idx, Disp: indexBytes * lane}))
	}
	ADDQ(Imm(uint64(indexBytes*l.Count())), idx)
	DECQ(left)
	JNZ(LabelRef("full"))
	Label("tail")
	MOVL(Mem{Base: widths, Disp: 4}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("next"))
	mask, lane := GP32(), GP64()
	Label("masked")
	multiply("maskedAsked")
	MOVWLZX(Mem{Base: masks}, mask)
	ADDQ(Imm(2), masks)
	Label("lane")
	TZCNTL(mask, lane.As32())
	add(Mem{Base: products, Index: lane, Scale: uint8(l.Size())}, place(Mem{Base: idx, Index: lane, Scale: uint8(indexBytes)}))
	BLSRL(mask, mask)
	JNZ(LabelRef("lane"))
	ADDQ(Imm(uint64(indexBytes*l.Count())), idx)
	DECQ(left)
	JNZ(LabelRef("masked"))
	Label("next")
	ADDQ(Imm(8), widths)
	ADDQ(Imm(uint64(l.Bytes())), factors)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}
