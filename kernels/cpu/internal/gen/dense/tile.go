package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// shape is the size of the largest tile of C, whose elements stay in registers. AVX2 has registers for 3 x 4 of them, 3
// for a column of A and 1 for an element of B; AVX-512 for 3 x 8, 3 and 5.
type shape struct {
	*lanes.Part
	regs, cols int // registers in a column of the tile; columns
}

func newShape(l lanes.Lanes) shape {
	s := shape{&lanes.Part{Lanes: l}, 3, 4}
	if l.Long {
		s.cols = 8
	}
	return s
}

// columns addresses up to 8 columns at a distance of stride bytes: the first four from base, the others from base4.
type columns struct{ base, base4, stride, stride3 Register }

// newColumns loads the stride of n columns from an argument.
func newColumns(base Register, stride string, n int) columns {
	c := columns{base: base}
	if n > 1 {
		c.stride = GP64()
		MOVQ(lanes.Arg(stride), c.stride)
	}
	if n > 3 {
		c.stride3 = GP64()
		LEAQ(Mem{Base: c.stride, Index: c.stride, Scale: 2}, c.stride3)
	}
	if n > 4 {
		c.base4 = GP64()
		LEAQ(Mem{Base: base, Index: c.stride, Scale: 4}, c.base4)
	}
	return c
}

// at returns the memory of column j, disp bytes after its start.
func (c columns) at(j, disp int) Mem {
	m := Mem{Base: c.base, Disp: disp}
	if j >= 4 {
		m.Base = c.base4
	}
	switch j % 4 {
	case 1, 2:
		m.Index, m.Scale = c.stride, uint8(j%4)
	case 3:
		m.Index, m.Scale = c.stride3, 1
	}
	return m
}

// move adds bytes to the addresses.
func (c columns) move(by Register) {
	ADDQ(by, c.base)
	if c.base4 != nil {
		ADDQ(by, c.base4)
	}
}

// place is how a tile loads and stores a register: all of its lanes, or those of a mask.
type place struct{ load, store func(m Mem, v VecVirtual) }

// whole is a register whose lanes are all rows of the tile.
func (s shape) whole() place {
	return place{s.Load, func(m Mem, v VecVirtual) { s.Store(v, m) }}
}

// part is a register of which the mask selects the first lanes.
func (s shape) part() place {
	return place{s.LoadPart, func(m Mem, v VecVirtual) { s.StorePart(v, m) }}
}

// tile generates a tile of C -= A*B. rows says how to load the registers of a column of A and, unless ofC(j, r) returns
// another place, how to load and store register r of column j of C. a and c are the addresses of the rows of the tile, and
// do not change.
func (s shape) tile(name string, cols int, rows []place, ofC func(j, r int) *place, a, c Register) {
	at := func(j, r int) place {
		if p := ofC(j, r); p != nil {
			return *p
		}
		return rows[r]
	}
	sums := make([][]VecVirtual, cols)
	ofTile := newColumns(c, "ldc", cols)
	for j := range sums {
		for r := range rows {
			v := s.Reg()
			at(j, r).load(ofTile.at(j, r*s.Bytes()), v)
			sums[j] = append(sums[j], v)
		}
	}
	left, from, lda, bk, b := GP64(), GP64(), GP64(), GP64(), GP64()
	MOVQ(lanes.Arg("k"), left)
	MOVQ(a, from)
	MOVQ(lanes.Arg("lda"), lda)
	MOVQ(lanes.Arg("bk"), bk)
	MOVQ(stripOfB, b)
	ofB := newColumns(b, "bj", cols)
	Label(name + "Depth")
	var columnOfA []VecVirtual
	for r, p := range rows {
		v := s.Reg()
		p.load(Mem{Base: from, Disp: r * s.Bytes()}, v)
		columnOfA = append(columnOfA, v)
	}
	ADDQ(lda, from)
	for j := range cols {
		f := s.Reg()
		s.Broadcast(ofB.at(j, 0), f)
		for r, v := range columnOfA {
			s.subtractProduct(v, f, sums[j][r])
		}
	}
	ofB.move(bk)
	DECQ(left)
	JNZ(LabelRef(name + "Depth"))
	ofTile = newColumns(c, "ldc", cols)
	for j := range sums {
		for r, v := range sums[j] {
			at(j, r).store(ofTile.at(j, r*s.Bytes()), v)
		}
	}
}

// subtractProduct computes acc -= a*b, rounded once.
func (s shape) subtractProduct(a, b, acc VecVirtual) {
	lanes.Pick(s.Lanes, VFNMADD231PD, VFNMADD231PS)(a, b, acc)
}

func sameAsA(int, int) *place { return nil }

// stripOfB is the local variable with the address of the columns of B that the current tiles read.
var stripOfB Mem

// rowsOf returns n registers, the last of which may be filled in part.
func (s shape) rowsOf(n int, partial bool) (all []place) {
	for r := range n {
		if partial && r == n-1 {
			all = append(all, s.part())
		} else {
			all = append(all, s.whole())
		}
	}
	return all
}

// subtract generates the product for any number of rows and columns.
func (s shape) subtract() {
	s.Func("subtract"+s.Suffix(), "func(a *productArgs[V])", "computes C -= A*B: see productArgs.")
	a := lanes.Args("m", "n", "k", "a", "lda", "b", "bk", "bj", "c", "ldc")
	left, stripOfC := AllocLocal(8), AllocLocal(8)
	stripOfB = AllocLocal(8)
	copyField := func(field string, to Mem) {
		MOVQ(a.Load(field), to)
	}
	copyField("n", left)
	copyField("b", stripOfB)
	copyField("c", stripOfC)
	Label("strip")
	n := GP64()
	MOVQ(left, n)
	for cols := 1; cols < s.cols; cols++ {
		CMPQ(n, Imm(uint64(cols)))
		JEQ(LabelRef(fmt.Sprintf("columns%d", cols)))
	}
	for cols := s.cols; cols > 0; cols-- {
		s.strip(a, cols, stripOfC)
		if cols < s.cols {
			JMP(LabelRef("end"))
			continue
		}
		// The next strip, unless this was the last.
		next := func(stride string, at Mem) {
			d := a.Load(stride)
			SHLQ(Imm(uint64(bits.TrailingZeros(uint(cols)))), d)
			ADDQ(d, at)
		}
		next("bj", stripOfB)
		next("ldc", stripOfC)
		SUBQ(Imm(uint64(cols)), left)
		JNZ(LabelRef("strip"))
		JMP(LabelRef("end"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// strip generates the product for a strip of columns.
func (s shape) strip(a *lanes.Arguments, cols int, stripOfC Mem) {
	name := fmt.Sprintf("columns%d", cols)
	Label(name)
	rows, ofA, ofC := a.Load("m").(GPVirtual), a.Load("a"), GP64()
	MOVQ(stripOfC, ofC)
	side := s.regs * s.Count()
	SUBQ(Imm(uint64(side)), rows)
	JL(LabelRef(name + "Rest"))
	Label(name + "Tiles")
	s.tile(name, cols, s.rowsOf(s.regs, false), sameAsA, ofA, ofC)
	ADDQ(Imm(uint64(s.regs*s.Bytes())), ofA)
	ADDQ(Imm(uint64(s.regs*s.Bytes())), ofC)
	SUBQ(Imm(uint64(side)), rows)
	JGE(LabelRef(name + "Tiles"))
	Label(name + "Rest")
	ADDQ(Imm(uint64(side)), rows)
	JZ(LabelRef(name + "Done"))
	most := s.regs // registers of a tile with a part
	if !s.Opmasks() {
		// There is no register for a mask beside three of A.
		most--
		CMPQ(rows, Imm(uint64(most*s.Count())))
		JLE(LabelRef(name + "Last"))
		s.tile(name+"Whole", cols, s.rowsOf(most, false), sameAsA, ofA, ofC)
		ADDQ(Imm(uint64(most*s.Bytes())), ofA)
		ADDQ(Imm(uint64(most*s.Bytes())), ofC)
		SUBQ(Imm(uint64(most*s.Count())), rows)
		Label(name + "Last")
	}
	s.eachRest(name, most, rows, name+"Done", func(name string, rows []place) { s.tile(name, cols, rows, sameAsA, ofA, ofC) })
	Label(name + "Done")
}

// eachRest generates tiles for the last rows, of up to most registers, of which the last is filled in part. After a tile
// of more than one it jumps to end.
func (s shape) eachRest(name string, most int, rows GPVirtual, end string, tile func(name string, rows []place)) {
	for regs := most; regs > 0; regs-- {
		next := fmt.Sprintf("%sPart%d", name, regs)
		if before := (regs - 1) * s.Count(); before > 0 {
			CMPQ(rows, Imm(uint64(before)))
			JLE(LabelRef(next + "Skip"))
			SUBQ(Imm(uint64(before)), rows)
		}
		s.SetMask(rows)
		tile(next, s.rowsOf(regs, true))
		if regs > 1 {
			JMP(LabelRef(end))
			Label(next + "Skip")
		}
	}
}
