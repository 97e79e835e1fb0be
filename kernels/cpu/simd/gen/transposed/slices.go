package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// Elements of y are asked for so many entries before their turn, as those of package csr.
const (
	farAhead  = 128 // for the second cache
	nearAhead = 16  // for the first one
)

// Values and columns are asked for so many bytes before their turn, for the second cache, as
// those of package slices are.
const (
	valuesAhead  = 8192
	indicesAhead = 2048 // of 16 bits
)

// slicer is the registers of a kernel of slices.
type slicer struct {
	lanes.Lanes
	indexBytes                          int
	valueBytes                          int // of a column
	column                              func(at Mem) Op
	widths, masks, val, idx, factors, y Register // y is where column 0 would be
	asks, products                      Register
	factor                              VecVirtual
	left                                GPVirtual
}

// slices generates a kernel of Slices whose indices have so many bytes. The products of a
// column are added to y one by one: lanes may have the same place.
func slices(l lanes.Lanes, values lanes.Values, indexBytes int) {
	name := fmt.Sprintf("slicesTransposed%s%d%s", values.Name, 8*indexBytes, l.Suffix())
	l.Func(name, "func(n int, widths *uint32, masks *uint16, val, idx *byte, table, factors, y *V, first, asks int, products *V)",
		"is addSlicesTransposed for the case in its name. In the first asks columns",
		fmt.Sprintf("it asks for elements of y that are %d entries ahead. products has a register.", farAhead))
	s := beginSlices(l, values, indexBytes)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JE(LabelRef("done"))
	l.Load(Mem{Base: s.factors}, s.factor)
	lanes.EachColumn(func() Register { return s.widths }, s.left, "next", s.full, s.masked)
	Label("next")
	ADDQ(Imm(8), s.widths)
	ADDQ(Imm(uint64(l.Bytes())), s.factors)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginSlices loads the arguments that have registers.
func beginSlices(l lanes.Lanes, values lanes.Values, indexBytes int) *slicer {
	s := &slicer{Lanes: l, indexBytes: indexBytes, valueBytes: values.Bytes(l)}
	s.widths = Load(Param("widths"), GP64())
	s.masks = Load(Param("masks"), GP64())
	s.val = Load(Param("val"), GP64())
	s.idx = Load(Param("idx"), GP64())
	table := Load(Param("table"), GP64())
	s.factors = Load(Param("factors"), GP64())
	s.y = Load(Param("y"), GP64())
	s.asks = Load(Param("asks"), GP64())
	s.products = Load(Param("products"), GP64())
	s.column = values.Begin(l, table)
	s.factor, s.left = l.Reg(), GP64()
	MOVQ(lanes.Arg("first"), s.left)
	IMUL3Q(U32(l.Size()), s.left, s.left)
	SUBQ(s.left, s.y)
	return s
}

// full adds a column in which all lanes have an entry, straight from the register: products
// that are written to memory and loaded from there one by one take half as long again.
func (s *slicer) full() {
	index := func(lane int) Mem { return Mem{Base: s.idx, Disp: s.indexBytes * lane} }
	short := lanes.ShortIndices(index)
	s.AddEach(s.multiply("fullAsked"), func(lane int) Mem {
		if s.indexBytes == 4 {
			return s.place(index(lane))
		}
		return Mem{Base: s.y, Index: short(lane), Scale: uint8(s.Size())}
	})
	ADDQ(Imm(uint64(s.indexBytes*s.Count())), s.idx)
}

// masked adds the entries of a column lane by lane of its mask.
func (s *slicer) masked() {
	mask, lane := GP32(), GP64()
	s.Store(s.multiply("maskedAsked"), Mem{Base: s.products})
	MOVWLZX(Mem{Base: s.masks}, mask)
	ADDQ(Imm(2), s.masks)
	Label("lane")
	TZCNTL(mask, lane.As32())
	addOne(s.Lanes, Mem{Base: s.products, Index: lane, Scale: uint8(s.Size())}, s.place(Mem{Base: s.idx, Index: lane, Scale: uint8(s.indexBytes)}))
	BLSRL(mask, mask)
	JNZ(LabelRef("lane"))
	ADDQ(Imm(uint64(s.indexBytes*s.Count())), s.idx)
}

// place is the element of y for an index at a place in memory.
func (s *slicer) place(from Mem) Mem {
	at := GP64()
	lanes.LoadIndex(s.indexBytes, from, at)
	return Mem{Base: s.y, Index: at, Scale: uint8(s.Size())}
}

// multiply makes the products of a column.
func (s *slicer) multiply(asked string) VecVirtual {
	if s.valueBytes > 0 {
		PREFETCHT1(Mem{Base: s.val, Disp: valuesAhead})
	}
	PREFETCHT1(Mem{Base: s.idx, Disp: indicesAhead * s.indexBytes / 2})
	DECQ(s.asks)
	JL(LabelRef(asked))
	for lane := range s.Count() {
		PREFETCHT1(s.place(Mem{Base: s.idx, Disp: s.indexBytes * (farAhead + lane)}))
		PREFETCHT0(s.place(Mem{Base: s.idx, Disp: s.indexBytes * (nearAhead + lane)}))
	}
	Label(asked)
	product := s.Reg()
	s.Mul(s.column(Mem{Base: s.val}), s.factor, product)
	if s.valueBytes > 0 {
		ADDQ(Imm(uint64(s.valueBytes)), s.val)
	}
	return product
}

// addOne adds the element at one place in memory to that at another.
func addOne(l lanes.Lanes, from, to Mem) {
	one := XMM()
	l.MoveOne(from, one)
	l.AddOne(to, one, one)
	l.MoveOne(one, to)
}
