package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// maxVectors is how many registers of a row of y are summed at once.
const maxVectors = 2

// kind is a way to find the row of x for an entry.
type kind struct {
	name       string
	indexBytes int  // of an index for each entry; 0 for one distance for each column
	constant   bool // one value for each column
}

var (
	narrow      = kind{"Slices16", 2, false}
	wide        = kind{"Slices32", 4, false}
	diagonal    = kind{"Diagonals", 0, false}
	perDiagonal = kind{"PerDiagonal", 0, true}
)

const (
	// ahead is how many entries of slices before its turn a row of x is asked for: a multiple
	// of the lanes.
	ahead = 32
	// valuesAhead is how many bytes ahead values are asked for.
	valuesAhead = 2048
)

// index loads an index.
func (k kind) index(m Mem, to GPVirtual) {
	if k.indexBytes == 2 {
		MOVWLZX(m, to.As32())
	} else {
		MOVL(m, to.As32())
	}
}

// together is how many rows are summed at once: with two registers each they fill
// half of the registers.
func together(p lanes.Part) int {
	if p.Long {
		return 8
	}
	return 4
}

// rows generates the kernel for v registers of columns of y, the last of which may
// be filled in part. A call serves as many lanes of each slice as are summed at once.
func rows(p lanes.Part, k kind, v int) {
	name, size, count := fmt.Sprintf("many%s%d%s", k.name, v, p.Suffix()), p.Size(), together(p)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, widths *uint32, masks *uint16, first int, val *%[1]s, idx *byte, x *%[1]s, row, ldx int, y *%[1]s, ldy int, order *uint16, rows int, asks *byte, alpha, beta %[1]s, last int, reads, stream bool)", p.Type()))
	Pragma("noescape")
	Doc(name + " is manyKernel for the case in its name.")

	widths := Load(Param("widths"), GP64())
	masks := Load(Param("masks"), GP64())
	val := Load(Param("val"), GP64())
	idx := Load(Param("idx"), GP64())
	x := Load(Param("x"), GP64())
	ldx := Load(Param("ldx"), GP64())
	order := Load(Param("order"), GP64())
	p.SetMask(Load(Param("last"), GP64()))
	alpha, beta := p.Reg(), p.Reg()
	p.Broadcast(lanes.Arg("alpha"), alpha)
	p.Broadcast(lanes.Arg("beta"), beta)
	left, ldx3, j := GP64(), GP64(), GP64()
	if k.indexBytes == 0 {
		t := GP64()
		MOVQ(lanes.Arg("row"), t)
		IMULQ(ldx, t)
		ADDQ(t, x)
		LEAQ(Mem{Base: ldx, Index: ldx, Scale: 2}, ldx3)
	}
	acc := make([][]VecVirtual, count)
	for i := range acc {
		for range v {
			acc[i] = append(acc[i], p.Reg())
		}
	}
	d := &diagonals{p, k, val, idx, x, ldx, ldx3, j, acc}
	fma := func(r int, m Mem, f, acc VecVirtual) {
		if r == v-1 {
			p.FMAPart(m, f, acc)
		} else {
			p.FMA(m, f, acc)
		}
	}

	// column adds one entry of each lane, of those in the mask if there is one.
	column := func(name string, mask Register) {
		if k.indexBytes > 0 {
			PREFETCHT0(Mem{Base: idx, Disp: 1024})
			CMPQ(idx, lanes.Arg("asks"))
			JAE(LabelRef(name + "Asked"))
			for i := range count {
				g := GP64()
				k.index(Mem{Base: idx, Disp: k.indexBytes * (ahead + i)}, g)
				IMULQ(ldx, g)
				for line := 0; line < v*p.Bytes(); line += 64 {
					PREFETCHT0(Mem{Base: x, Index: g, Scale: 1, Disp: line})
				}
			}
			Label(name + "Asked")
		}
		if k.indexBytes == 0 {
			d.askFirst(name)
		}
		var f VecVirtual
		if k.constant {
			f = p.Reg()
			p.Broadcast(Mem{Base: val, Index: j, Scale: uint8(size)}, f)
		} else {
			PREFETCHT0(Mem{Base: val, Disp: valuesAhead})
		}
		lane := k.lane(idx, x, ldx, ldx3, j)
		for i := range count {
			skip := fmt.Sprintf("%sLane%d", name, i)
			if mask != nil {
				BTL(Imm(uint64(i)), mask.(GPVirtual).As32())
				JCC(LabelRef(skip))
			}
			at := lane(i)
			f := f
			if !k.constant {
				f = p.Reg()
				p.Broadcast(Mem{Base: val, Disp: i * size}, f)
			}
			for r := range v {
				m := at
				m.Disp += r * p.Bytes()
				fma(r, m, f, acc[i][r])
			}
			if mask != nil {
				Label(skip)
			}
		}
		if k.indexBytes > 0 {
			ADDQ(Imm(uint64(k.indexBytes*p.Count())), idx)
		} else {
			INCQ(j)
		}
		if !k.constant {
			ADDQ(Imm(uint64(p.Bytes())), val)
		}
	}

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for i := range acc {
		for _, a := range acc[i] {
			p.Zero(a)
		}
	}
	if k.indexBytes == 0 {
		XORQ(j, j)
	}
	MOVL(Mem{Base: widths}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("full")
	if k.indexBytes == 0 {
		d.addThree(left, "one", "full", "tail")
		Label("one")
	}
	column("full", nil)
	DECQ(left)
	JNZ(LabelRef("full"))
	Label("tail")
	MOVL(Mem{Base: widths, Disp: 4}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("finish"))
	Label("masked")
	mask, first := GP64(), GP64()
	MOVWLZX(Mem{Base: masks}, mask.As32())
	MOVQ(lanes.Arg("first"), first)
	SHRXL(first.As32(), mask.As32(), mask.As32())
	column("masked", mask)
	ADDQ(Imm(2), masks)
	DECQ(left)
	JNZ(LabelRef("masked"))

	Label("finish")
	for i := range acc {
		CMPQ(lanes.Arg("rows"), Imm(uint64(i)))
		JLE(LabelRef("next"))
		at := GP64()
		MOVWLZX(Mem{Base: order, Disp: 2 * i}, at.As32())
		IMULQ(lanes.Arg("ldy"), at)
		ADDQ(lanes.Arg("y"), at)
		p.FinishRow(fmt.Sprintf("row%d", i), at, acc[i], alpha, func(r int, m Mem, a VecVirtual) { fma(r, m, beta, a) })
	}
	Label("next")
	ADDQ(Imm(uint64(2*p.Count())), order)
	SUBQ(Imm(uint64(p.Count())), lanes.Arg("rows"))
	if k.indexBytes > 0 {
		ADDQ(Imm(8), widths)
	} else { // the rows of x that lie in the same places beside the next slice
		t := GP64()
		IMUL3Q(Imm(uint64(p.Count())), ldx, t)
		ADDQ(t, x)
	}
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// lane starts a column: it gives the function that finds the row of x for each lane.
func (k kind) lane(idx, x, ldx, ldx3, j Register) func(i int) Mem {
	if k.indexBytes > 0 {
		return func(i int) Mem {
			g := GP64()
			k.index(Mem{Base: idx, Disp: k.indexBytes * i}, g)
			IMULQ(ldx, g)
			return Mem{Base: x, Index: g, Scale: 1}
		}
	}
	at, behind := GP64(), GP64()
	MOVQ(Mem{Base: idx, Index: j, Scale: 8}, at)
	IMULQ(ldx, at)
	ADDQ(x, at)
	LEAQ(Mem{Base: at, Index: ldx, Scale: 4}, behind)
	return func(i int) Mem {
		base := at
		if i >= 4 {
			base = behind
		}
		switch i % 4 {
		case 0:
			return Mem{Base: base}
		case 3:
			return Mem{Base: base, Index: ldx3, Scale: 1}
		}
		return Mem{Base: base, Index: ldx, Scale: uint8(i % 4)}
	}
}
