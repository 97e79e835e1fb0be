package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Part is a row of registers, of which the last may be filled in part: only its first elements are
// read and written.
type Part struct {
	Lanes
	mask Register
}

// SetMask sets the mask to the first n elements.
func (p *Part) SetMask(n Register) {
	if p.Opmasks() {
		ones := GP64()
		MOVQ(I32(-1), ones)
		BZHIQ(n, ones, ones)
		k := K()
		KMOVW(ones.As32(), k)
		p.mask = k
		return
	}
	x, y := XMM(), p.Reg()
	VMOVQ(n, x)
	Pick(p.Lanes, VPBROADCASTQ, VPBROADCASTD)(x, y)
	Pick(p.Lanes, VPCMPGTQ, VPCMPGTD)(static(p.ofType("counts")), y, y)
	p.mask = y
}

// DefineCounts defines the data of SetMask, once per file.
func DefineCounts() { defineBoth("counts", func(i int) uint64 { return uint64(i) }) }

// FMAPart is FMA for the first elements. With AVX2, zeros are added to the others of acc.
func (p *Part) FMAPart(m Mem, v, acc VecVirtual) {
	if p.Opmasks() {
		p.FMAMasked(m, v, p.mask, acc)
	} else {
		t := p.Reg()
		p.LoadPart(m, t)
		p.FMA(t, v, acc)
	}
}

// Mask returns the mask of the first elements; without Opmasks, all bits of these elements are set.
func (p *Part) Mask() Register { return p.mask }

// LoadPart loads the first elements and clears the others.
func (p *Part) LoadPart(m Mem, v VecVirtual) { p.LoadMasked(m, p.mask, v) }

// StorePart stores the first elements.
func (p *Part) StorePart(v VecVirtual, m Mem) { p.StoreMasked(v, p.mask, m) }

// FinishRow writes a row of y at the given address: alpha*sums, plus what addY adds if the argument
// reads is not 0. It writes past the caches if the argument stream is not 0.
func (p *Part) FinishRow(name string, at Register, sums []VecVirtual, alpha VecVirtual, addY func(r int, m Mem, a VecVirtual)) {
	place := func(r int) Mem { return Mem{Base: at, Disp: r * p.Bytes()} }
	for _, a := range sums {
		p.Mul(alpha, a, a)
	}
	CMPB(Arg("reads"), Imm(0))
	JEQ(LabelRef(name + "Overwrite"))
	for r, a := range sums {
		addY(r, place(r), a)
	}
	Label(name + "Overwrite")
	CMPB(Arg("stream"), Imm(0))
	JNE(LabelRef(name + "Stream"))
	for r, a := range sums {
		if r == len(sums)-1 {
			p.StorePart(a, place(r))
		} else {
			p.Store(a, place(r))
		}
	}
	JMP(LabelRef(name + "End"))
	Label(name + "Stream")
	for r, a := range sums {
		p.Stream(a, place(r))
	}
	Label(name + "End")
}

// FMABroadcast computes acc += m*b, with the element at m in all lanes.
func (p *Part) FMABroadcast(m Mem, b, acc VecVirtual) {
	if p.Opmasks() {
		Pick(p.Lanes, VFMADD231PD_BCST, VFMADD231PS_BCST)(m, b, acc)
	} else {
		f := p.Reg()
		p.Broadcast(m, f)
		p.FMA(f, b, acc)
	}
}
