package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// diagonals is where a kernel of diagonals has what it needs: idx the offsets, j the number of
// the next, x the row of x that lies in the place of the first lane, ldx the bytes to the next
// one, and ldx3 three times as many.
type diagonals struct {
	lanes.Part
	kind
	val, idx, x, ldx, ldx3, j Register
	acc                       [][]VecVirtual // of each lane
}

// Rows of x are asked for before their turn, for the second cache and for the first: so many
// rows, as powers of 2.
const (
	farRows  = 6
	nearRows = 3
)

// ask brings to the caches what diagonal j will need of x. name is for labels.
func (d *diagonals) ask(name string) {
	CMPQ(lanes.Arg("asks"), Imm(0))
	JEQ(LabelRef(name + "Asked"))
	for _, to := range []struct {
		rows     uint64
		prefetch func(Op)
	}{{farRows, PREFETCHT1}, {nearRows, PREFETCHT0}} {
		later := GP64()
		MOVQ(d.ldx, later)
		SHLQ(Imm(to.rows), later)
		ADDQ(d.x, later)
		lane := d.lane(d.idx, later, d.ldx, d.ldx3, d.j)
		for i := range d.acc {
			for line := 0; line < len(d.acc[i])*d.Bytes(); line += 64 {
				m := lane(i)
				m.Disp += line
				to.prefetch(m)
			}
		}
	}
	Label(name + "Asked")
}

// askFirst is ask, but not for a diagonal next to the one before it, which has asked for nearly
// the same.
func (d *diagonals) askFirst(name string) {
	TESTQ(d.j, d.j)
	JZ(LabelRef(name + "Ask"))
	apart := GP64()
	MOVQ(Mem{Base: d.idx, Index: d.j, Scale: 8}, apart)
	SUBQ(Mem{Base: d.idx, Index: d.j, Scale: 8, Disp: -8}, apart)
	CMPQ(apart, Imm(1))
	JEQ(LabelRef(name + "Asked"))
	Label(name + "Ask")
	d.ask(name)
}

// three is how many neighbouring diagonals are added together.
const three = 3

// addThree adds three neighbouring diagonals of full slices, from j on, where there are such
// among those that are left: a row of x, which each of them multiplies for another lane, is
// loaded once. Then it goes on at again, or at done where none are left, and else at none.
func (d *diagonals) addThree(left Register, none, again, done string) {
	CMPQ(left, Imm(three))
	JL(LabelRef(none))
	apart, at := GP64(), GP64()
	MOVQ(Mem{Base: d.idx, Index: d.j, Scale: 8}, at)
	MOVQ(Mem{Base: d.idx, Index: d.j, Scale: 8, Disp: 8 * (three - 1)}, apart)
	SUBQ(at, apart)
	CMPQ(apart, Imm(three-1))
	JNE(LabelRef(none))
	d.ask("three")
	IMULQ(d.ldx, at)
	ADDQ(d.x, at)
	var factors [three]VecVirtual
	if d.constant {
		for t := range factors {
			factors[t] = d.Reg()
			d.Broadcast(Mem{Base: d.val, Index: d.j, Scale: uint8(d.Size()), Disp: t * d.Size()}, factors[t])
		}
	}
	for i := range len(d.acc) + three - 1 {
		row := d.load(at, i)
		for t, f := range factors {
			lane := i - t
			if lane < 0 || lane >= len(d.acc) {
				continue
			}
			if !d.constant {
				f = d.Reg()
				d.Broadcast(Mem{Base: d.val, Disp: t*d.Bytes() + lane*d.Size()}, f)
			}
			for r, v := range row {
				d.FMA(v, f, d.acc[lane][r])
			}
		}
	}
	ADDQ(Imm(three), d.j)
	if !d.constant {
		for t := range three {
			PREFETCHT0(Mem{Base: d.val, Disp: valuesAhead + t*d.Bytes()})
		}
		ADDQ(U32(uint32(three*d.Bytes())), d.val)
	}
	SUBQ(Imm(three), left)
	JNZ(LabelRef(again))
	JMP(LabelRef(done))
}

// load loads row i of those from at on, whose rows are loaded in order: at goes on with them.
func (d *diagonals) load(at Register, i int) []VecVirtual {
	row := make([]VecVirtual, len(d.acc[0]))
	for r := range row {
		row[r] = d.Reg()
		m := Mem{Base: at, Disp: r * d.Bytes()}
		switch i % 4 {
		case 1, 2:
			m.Index, m.Scale = d.ldx, uint8(i%4)
		case 3:
			m.Index, m.Scale = d.ldx3, 1
		}
		if r == len(row)-1 {
			d.LoadPart(m, row[r])
		} else {
			d.Load(m, row[r])
		}
	}
	if i%4 == 3 {
		LEAQ(Mem{Base: at, Index: d.ldx, Scale: 4}, at)
	}
	return row
}
