package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// Rows of x are asked for before their turn, for the second cache and for the first: so many
// rows, as powers of 2.
const (
	farRows  = 6
	nearRows = 3
)

// ask brings to the caches what diagonal j will need of x. name is for labels.
func (k *kernel) ask(name string) {
	CMPQ(lanes.Arg("asks"), Imm(0))
	JEQ(LabelRef(name + "Asked"))
	for _, to := range []struct {
		rows     uint64
		prefetch func(Op)
	}{{farRows, PREFETCHT1}, {nearRows, PREFETCHT0}} {
		later := GP64()
		MOVQ(k.ldx, later)
		SHLQ(Imm(to.rows), later)
		ADDQ(k.x, later)
		lane := k.lane(later)
		for i := range k.acc {
			for line := 0; line < len(k.acc[i])*k.Bytes(); line += 64 {
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
func (k *kernel) askFirst(name string) {
	TESTQ(k.j, k.j)
	JZ(LabelRef(name + "Ask"))
	apart := GP64()
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8}, apart)
	SUBQ(Mem{Base: k.idx, Index: k.j, Scale: 8, Disp: -8}, apart)
	CMPQ(apart, Imm(1))
	JEQ(LabelRef(name + "Asked"))
	Label(name + "Ask")
	k.ask(name)
}

// three is how many neighbouring diagonals are added together.
const three = 3

// addThree adds three neighbouring diagonals of full slices, from j on, where there are such
// among those that are left: a row of x, which each of them multiplies for another lane, is
// loaded once. Then it goes on at again, or at done where none are left, and else at none.
func (k *kernel) addThree(left Register, none, again, done string) {
	CMPQ(left, Imm(three))
	JL(LabelRef(none))
	apart, at := GP64(), GP64()
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8}, at)
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8, Disp: 8 * (three - 1)}, apart)
	SUBQ(at, apart)
	CMPQ(apart, Imm(three-1))
	JNE(LabelRef(none))
	k.ask("three")
	IMULQ(k.ldx, at)
	ADDQ(k.x, at)
	var factors [three]VecVirtual
	if k.constant {
		for t := range factors {
			factors[t] = k.Reg()
			k.Broadcast(Mem{Base: k.val, Index: k.j, Scale: uint8(k.Size()), Disp: t * k.Size()}, factors[t])
		}
	}
	for i := range len(k.acc) + three - 1 {
		row := k.load(at, i)
		for t, f := range factors {
			lane := i - t
			if lane < 0 || lane >= len(k.acc) {
				continue
			}
			if !k.constant {
				f = k.Reg()
				k.Broadcast(Mem{Base: k.val, Disp: t*k.Bytes() + lane*k.Size()}, f)
			}
			for r, v := range row {
				k.FMA(v, f, k.acc[lane][r])
			}
		}
	}
	ADDQ(Imm(three), k.j)
	if !k.constant {
		for t := range three {
			PREFETCHT0(Mem{Base: k.val, Disp: valuesAhead + t*k.Bytes()})
		}
		ADDQ(U32(uint32(three*k.Bytes())), k.val)
	}
	SUBQ(Imm(three), left)
	JNZ(LabelRef(again))
	JMP(LabelRef(done))
}

// load loads row i of those from at on, whose rows are loaded in order: at goes on with them.
func (k *kernel) load(at Register, i int) []VecVirtual {
	row := make([]VecVirtual, len(k.acc[0]))
	for r := range row {
		row[r] = k.Reg()
		m := Mem{Base: at, Disp: r * k.Bytes()}
		switch i % 4 {
		case 1, 2:
			m.Index, m.Scale = k.ldx, uint8(i%4)
		case 3:
			m.Index, m.Scale = k.ldx3, 1
		}
		if r == len(row)-1 {
			k.LoadPart(m, row[r])
		} else {
			k.Load(m, row[r])
		}
	}
	if i%4 == 3 {
		LEAQ(Mem{Base: at, Index: k.ldx, Scale: 4}, at)
	}
	return row
}
