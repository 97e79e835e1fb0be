package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// side is the largest number of rows and columns of a triangle.
const side = 8

// dispatch jumps to label NAMEn for n < side, and continues for n = side.
func dispatch(name string, n Register, least int) {
	for i := least; i < side; i++ {
		CMPQ(n, Imm(uint64(i)))
		JEQ(LabelRef(fmt.Sprintf("%s%d", name, i)))
	}
}

// right generates B = B U^-1 for up to side columns. All columns of a tile of B are in registers: with AVX2 one register
// for each, with AVX-512 two.
func (s shape) right() {
	s.Func("right"+s.Suffix(), "func(a *rightArgs[V])", "computes B = B U^-1: see rightArgs.")
	a := lanes.Args("m", "n", "u", "uk", "uj", "inverse", "b", "ldb")
	dispatch("columns", a.Load("n"), 1)
	most := 1
	if s.Long {
		most = 2
	}
	for n := side; n > 0; n-- {
		name := fmt.Sprintf("columns%d", n)
		Label(name)
		rows, b := a.Load("m").(GPVirtual), a.Load("b")
		SUBQ(Imm(uint64(most*s.Count())), rows)
		JL(LabelRef(name + "Rest"))
		Label(name + "Tiles")
		s.rightTile(a, n, s.rowsOf(most, false), b)
		ADDQ(Imm(uint64(most*s.Bytes())), b)
		SUBQ(Imm(uint64(most*s.Count())), rows)
		JGE(LabelRef(name + "Tiles"))
		Label(name + "Rest")
		ADDQ(Imm(uint64(most*s.Count())), rows)
		JZ(LabelRef("end"))
		s.eachRest(name, most, rows, "end", func(_ string, rows []place) { s.rightTile(a, n, rows, b) })
		JMP(LabelRef("end"))
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// rightTile generates right for some rows.
func (s shape) rightTile(a *lanes.Arguments, n int, rows []place, b Register) {
	ofB := newColumns(b, "ldb", n)
	x := make([][]VecVirtual, n)
	for j := range x {
		for r, p := range rows {
			v := s.Reg()
			p.load(ofB.at(j, r*s.Bytes()), v)
			x[j] = append(x[j], v)
		}
	}
	ofU, uj, inverse := newColumns(a.Load("u"), "uk", n), a.Load("uj"), a.Load("inverse")
	for j := range x {
		for p := range j {
			f := s.Reg()
			s.Broadcast(ofU.at(p, 0), f)
			for r := range rows {
				s.subtractProduct(x[p][r], f, x[j][r])
			}
		}
		f := s.Reg()
		s.Broadcast(Mem{Base: inverse, Disp: j * s.Size()}, f)
		for r, p := range rows {
			s.Mul(f, x[j][r], x[j][r])
			p.store(ofB.at(j, r*s.Bytes()), x[j][r])
		}
		if j < n-1 {
			ofU.move(uj)
		}
	}
}

// left generates B = L^-1 B for a triangle of 2 to side rows. A column of B is in one register, or two (float64 with AVX2).
func (s shape) left() {
	s.Func("left"+s.Suffix(), "func(a *leftArgs[V])", "computes B = L^-1 B: see leftArgs.")
	a := lanes.Args("m", "n", "l", "ldl", "b", "ldb")
	dispatch("rows", a.Load("n"), 2)
	for n := side; n > 1; n-- {
		l := s.Lanes
		if s.Long {
			// The shortest register: a load of more elements than the column has waits for the stores of earlier columns that
			// are as near.
			l = lanes.Lanes{Double: s.Double, Masked: true, Half: !s.Double && n <= side/2}
			if s.Double && n > side/2 {
				l = s.Lanes
			}
		}
		shape{&lanes.Part{Lanes: l}, 0, 0}.leftOf(a, n)
		if n > 2 {
			JMP(LabelRef("end"))
		}
	}
	Label("end")
	VZEROUPPER()
	RET()
}

// defineLanes defines the indices of lanes for spreader, once per file: side times each lane.
func defineLanes() {
	for _, l := range []lanes.Lanes{{Double: true}, {}} {
		l.Define("lane"+l.TypeName(), side*side, func(i int) uint64 { return uint64(i / side) })
	}
}

func (s shape) leftOf(a *lanes.Arguments, n int) {
	name := fmt.Sprintf("rows%d", n)
	Label(name)
	regs := (n + s.Count() - 1) / s.Count()
	if n%s.Count() != 0 {
		rows := GP64()
		MOVQ(U32(uint32(n-(regs-1)*s.Count())), rows)
		s.SetMask(rows)
	}
	rows := s.rowsOf(regs, n%s.Count() != 0)
	// l[p][r] is register r of column p of L. An element on or above the diagonal is loaded, but not used.
	l := make([][]VecVirtual, n-1)
	after := make([]Register, n-1) // the rows after p, in the register of row p
	ofL := newColumns(a.Load("l"), "ldl", n-1)
	for p := range l {
		l[p] = make([]VecVirtual, regs)
		for r := p / s.Count(); r < regs; r++ {
			if p%s.Count() == s.Count()-1 && r == p/s.Count() {
				continue // the last row of a register changes no row in it
			}
			l[p][r] = s.Reg()
			rows[r].load(ofL.at(p, r*s.Bytes()), l[p][r])
		}
		if s.Opmasks() {
			after[p] = K()
			if p == 0 {
				g := GP32()
				MOVL(U32(1<<side-2), g)
				KMOVW(g, after[p])
			} else {
				KSHIFTLB(Imm(1), after[p-1], after[p])
			}
		}
	}
	spread := s.spreader(n - 1)
	left, b, ldb := a.Load("m").(GPVirtual), a.Load("b"), a.Load("ldb")
	Label(name + "Column")
	x := make([]VecVirtual, regs)
	for r, p := range rows {
		x[r] = s.Reg()
		p.load(Mem{Base: b, Disp: r * s.Bytes()}, x[r])
	}
	for p := range l {
		own := p / s.Count()
		f := s.Reg()
		spread(x[own], p%s.Count(), f)
		for r := own; r < regs; r++ {
			switch {
			case l[p][r] == nil:
			case r > own:
				s.subtractProduct(l[p][r], f, x[r])
			case s.Opmasks():
				lanes.Pick(s.Lanes, VFNMADD231PD, VFNMADD231PS)(l[p][r], f, after[p], x[r])
			default:
				t := s.Reg()
				VMOVAPS(x[r], t)
				s.subtractProduct(l[p][r], f, t)
				changed := Imm(uint64(0xFE << (p % s.Count()) & (1<<s.Count() - 1)))
				lanes.Pick(s.Lanes, VBLENDPD, VBLENDPS)(changed, t, x[r], x[r])
			}
		}
	}
	for r, p := range rows {
		p.store(Mem{Base: b, Disp: r * s.Bytes()}, x[r])
	}
	ADDQ(ldb, b)
	DECQ(left)
	JNZ(LabelRef(name + "Column"))
}

// spreader returns a function that fills f with lane i < n of v.
func (s shape) spreader(n int) func(v VecVirtual, i int, f VecVirtual) {
	switch {
	case s.Count() == side && s.Opmasks():
		var index []VecVirtual
		for i := range n {
			index = append(index, s.Reg())
			VMOVUPS(NewDataAddr(Symbol{Name: "lane" + s.TypeName(), Static: true}, i*s.Bytes()), index[i])
		}
		return func(v VecVirtual, i int, f VecVirtual) { lanes.Pick(s.Lanes, VPERMPD, VPERMPS)(v, index[i], f) }
	case s.Double:
		return func(v VecVirtual, i int, f VecVirtual) { VPERMPD(Imm(uint64(0x55*i)), v, f) }
	}
	return func(v VecVirtual, i int, f VecVirtual) {
		VPERMILPS(Imm(uint64(0x55*(i%4))), v, f)
		if !s.Half {
			VPERM2F128(Imm(uint64(0x11*(i/4))), f, f, f)
		}
	}
}
