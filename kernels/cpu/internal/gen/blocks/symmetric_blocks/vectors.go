package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// gather returns elements j and j+1 of x for the blocks of all lanes, or only j if it is the last
// one. A lane loads both at once.
func (k *kernel) gather(j int) []VecVirtual {
	if j+1 == k.size {
		return []VecVirtual{k.l.GatherFrom(func(lane int) Mem { return k.place(k.x, lane, j) })}
	}
	for h, all := range k.pairs {
		k.halfOf(all, 0, h, j)
		k.halfOf(k.one, 1, h, j)
		VINSERTF128(Imm(1), k.one.AsX(), all, all)
	}
	out := []VecVirtual{k.l.Reg(), k.l.Reg()}
	if k.l.Double {
		VUNPCKLPD(k.pairs[1], k.pairs[0], out[0])
		VUNPCKHPD(k.pairs[1], k.pairs[0], out[1])
	} else {
		VSHUFPS(Imm(0x88), k.pairs[1], k.pairs[0], out[0])
		VSHUFPS(Imm(0xDD), k.pairs[1], k.pairs[0], out[1])
	}
	return out
}

// halfBytes is the bytes of half of a register, which instructions move at once.
const halfBytes = 16

// perHalf returns the number of lanes of half of a register.
func (k *kernel) perHalf() int { return halfBytes / k.l.Size() }

// halfOf loads elements j and j+1 of x for the lanes of half q of a register: for the first or
// second half h of these lanes.
func (k *kernel) halfOf(v VecVirtual, q, h, j int) {
	lane := q*k.perHalf() + h*k.perHalf()/2
	if k.l.Double {
		VMOVUPD(k.place(k.x, lane, j), v.AsX())
		return
	}
	VMOVSD(k.place(k.x, lane, j), v.AsX())
	VMOVHPS(k.place(k.x, lane+1, j), v.AsX(), v.AsX())
}

// add adds alpha times one or two registers to elements j, j+1 of y for the block of each lane, one
// lane after the other, because lanes may have the same elements.
func (k *kernel) add(sums []VecVirtual, j int) {
	var scaled []VecVirtual
	alpha := k.l.Reg()
	k.l.Broadcast(lanes.Arg("alpha"), alpha)
	for _, s := range sums {
		v := k.l.Reg()
		k.l.Mul(s, alpha, v)
		scaled = append(scaled, v)
	}
	if len(scaled) == 1 {
		k.l.AddEach(scaled[0], func(lane int) Mem { return k.place(k.y, lane, j) })
		return
	}
	lo, hi := k.l.Reg(), k.l.Reg()
	lanes.Pick(k.l, VUNPCKLPD, VUNPCKLPS)(scaled[1], scaled[0], lo)
	lanes.Pick(k.l, VUNPCKHPD, VUNPCKHPS)(scaled[1], scaled[0], hi)
	for q := range k.l.Bytes() / halfBytes {
		for h, v := range []VecVirtual{lo, hi} {
			part, lane := k.l.Quarter(v, q), q*k.perHalf()+h*k.perHalf()/2
			if k.l.Double {
				to, sum := k.place(k.y, lane, j), XMM()
				VADDPD(to, part, sum)
				VMOVUPD(sum, to)
				continue
			}
			for i := range 2 {
				own := part
				if i > 0 {
					own = XMM()
					VMOVHLPS(part, part, own)
				}
				to, sum := k.place(k.y, lane+i, j), XMM()
				VMOVSD(to, sum)
				VADDPS(own, sum, sum)
				VMOVSD(sum, to)
			}
		}
	}
}
