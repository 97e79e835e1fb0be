package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// Rows of x are prefetched for the second-level and the first-level cache; the distances in rows
// are these powers of 2.
const (
	farRows  = 6
	nearRows = 3
)

// prefetch prefetches the elements of x of diagonal j. Labels begin with name.
func (k *kernel) prefetch(name string) {
	CMPQ(lanes.Arg("prefetchEnd"), Imm(0))
	JEQ(LabelRef(name + "Prefetched"))
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
	Label(name + "Prefetched")
}

// prefetchFirst is prefetch, except for a diagonal adjacent to the previous one, which has
// prefetched nearly the same.
func (k *kernel) prefetchFirst(name string) {
	TESTQ(k.j, k.j)
	JZ(LabelRef(name + "Prefetch"))
	apart := GP64()
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8}, apart)
	SUBQ(Mem{Base: k.idx, Index: k.j, Scale: 8, Disp: -8}, apart)
	CMPQ(apart, Imm(1))
	JEQ(LabelRef(name + "Prefetched"))
	Label(name + "Prefetch")
	k.prefetch(name)
}

// three is the number of adjacent diagonals that are added together.
const three = 3

// addThree adds three adjacent diagonals of full slices, from j on, if the next three are adjacent:
// it loads a row of x, which each of them multiplies for another lane, once. It then jumps to
// again, or to done if none are left. Otherwise it jumps to none.
func (k *kernel) addThree(left Register, none, again, done string) {
	CMPQ(left, Imm(three))
	JL(LabelRef(none))
	apart, at := GP64(), GP64()
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8}, at)
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8, Disp: 8 * (three - 1)}, apart)
	SUBQ(at, apart)
	CMPQ(apart, Imm(three-1))
	JNE(LabelRef(none))
	k.prefetch("three")
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

// load loads row i of the rows from at on. Rows are loaded in order: at advances with them.
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
