package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// Elements of y are prefetched by these numbers of entries, as in package csr.
const (
	farAhead  = 128 // for the second-level cache
	nearAhead = 16  // for the first-level cache
)

// Values and columns are prefetched by these numbers of bytes to the second-level cache, as in
// package slices.
const (
	valuesAhead  = 8192
	indicesAhead = 2048 // for 16 bits
)

// slicer has the registers of a kernel of slices.
type slicer struct {
	lanes.Lanes
	indexBytes                          int
	valueBytes                          int // bytes of a column
	column                              func(at Mem) Op
	widths, masks, val, idx, factors, y Register // y is the address of column 0
	prefetchColumns, products           Register
	factor                              VecVirtual
	left                                GPVirtual
}

// transposed generates a kernel of transposed products of Slices with indices of indexBytes bytes. It adds the products of a
// column to y one by one, because lanes may have the same column.
func transposed(l lanes.Lanes, values lanes.Values, indexBytes int) {
	name := fmt.Sprintf("slicesTransposed%s%d%s", values.Name, 8*indexBytes, l.Suffix())
	l.Func(name, "func(a *sliceTransposedArgs[V])",
		"computes AddSlicesTransposed with after = 1 for the storage, the bits of an index, the type and the level in its name:",
		"",
		"\tfor every column c of every slice s of a.n:",
		"\t\ta.y[idx[c*lanes+lane]-a.first] += val[c*lanes+lane] * a.factors[s*lanes+lane]  if lane is in the mask of the column",
		"",
		fmt.Sprintf("In the first a.prefetchColumns columns it prefetches the elements of y of entries %d later.", farAhead))
	a := lanes.Args("n", "widths", "masks", "val", "idx", "table", "factors", "y", "first", "prefetchColumns", "products")
	s := beginTransposed(a, l, values, indexBytes)

	Label("slice")
	CMPQ(a.Mem("n"), Imm(0))
	JE(LabelRef("done"))
	l.Load(Mem{Base: s.factors}, s.factor)
	lanes.EachColumn(func() Register { return s.widths }, s.left, "next", s.full, s.masked)
	Label("next")
	ADDQ(Imm(8), s.widths)
	ADDQ(Imm(uint64(l.Bytes())), s.factors)
	DECQ(a.Mem("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginTransposed loads the arguments that have registers.
func beginTransposed(a *lanes.Arguments, l lanes.Lanes, values lanes.Values, indexBytes int) *slicer {
	s := &slicer{Lanes: l, indexBytes: indexBytes, valueBytes: values.Bytes(l)}
	s.widths = a.Load("widths")
	s.masks = a.Load("masks")
	s.val = a.Load("val")
	s.idx = a.Load("idx")
	table := a.Load("table")
	s.factors = a.Load("factors")
	s.y = a.Load("y")
	s.prefetchColumns = a.Load("prefetchColumns")
	s.products = a.Load("products")
	s.column = values.Begin(l, table)
	s.factor, s.left = l.Reg(), GP64()
	MOVQ(a.Mem("first"), s.left)
	IMUL3Q(U32(l.Size()), s.left, s.left)
	SUBQ(s.left, s.y)
	return s
}

// full adds a column in which all lanes have an entry, directly from the register: storing the
// products and loading them one by one takes 1.5 times as long.
func (s *slicer) full() {
	index := func(lane int) Mem { return Mem{Base: s.idx, Disp: s.indexBytes * lane} }
	short := lanes.ShortIndices(index)
	s.AddEach(s.multiply("fullPrefetched"), func(lane int) Mem {
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
	s.Store(s.multiply("maskedPrefetched"), Mem{Base: s.products})
	MOVWLZX(Mem{Base: s.masks}, mask)
	ADDQ(Imm(2), s.masks)
	Label("lane")
	TZCNTL(mask, lane.As32())
	lanes.AddTo(s.Lanes, Mem{Base: s.products, Index: lane, Scale: uint8(s.Size())}, s.place(Mem{Base: s.idx, Index: lane, Scale: uint8(s.indexBytes)}))
	BLSRL(mask, mask)
	JNZ(LabelRef("lane"))
	ADDQ(Imm(uint64(s.indexBytes*s.Count())), s.idx)
}

// place returns the element of y for an index in memory.
func (s *slicer) place(from Mem) Mem {
	at := GP64()
	lanes.LoadIndex(s.indexBytes, from, at)
	return Mem{Base: s.y, Index: at, Scale: uint8(s.Size())}
}

// multiply returns the products of a column.
func (s *slicer) multiply(asked string) VecVirtual {
	if s.valueBytes > 0 {
		PREFETCHT1(Mem{Base: s.val, Disp: valuesAhead})
	}
	PREFETCHT1(Mem{Base: s.idx, Disp: indicesAhead * s.indexBytes / 2})
	DECQ(s.prefetchColumns)
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
