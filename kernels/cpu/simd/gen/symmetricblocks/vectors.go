package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// gather is elements j and j+1 of x for the blocks of all lanes, or j only where there is
// no other. A lane loads both at once.
func (k *kernel) gather(j int) []VecVirtual {
	if j+1 == k.size {
		return []VecVirtual{k.l.GatherFrom(func(lane int) Mem { return k.place(k.x, lane, j) })}
	}
	for h, all := range k.pairs {
		k.quarterOf(all, 0, h, j)
		k.quarterOf(k.one, 1, h, j)
		VINSERTF128(Imm(1), k.one.AsX(), all.AsY(), all.AsY())
		if !k.l.Long {
			continue
		}
		k.quarterOf(k.one, 2, h, j)
		VINSERTF64X2(Imm(2), k.one.AsX(), all, all)
		k.quarterOf(k.one, 3, h, j)
		VINSERTF64X2(Imm(3), k.one.AsX(), all, all)
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

// quarterBytes is what instructions move of a register at once: a quarter of 512 bits.
const quarterBytes = 16

// perQuarter is the lanes of that.
func (k *kernel) perQuarter() int { return quarterBytes / k.l.Size() }

// quarterOf loads elements j and j+1 of x for the lanes of a quarter of a register: of
// the first or second half of these.
func (k *kernel) quarterOf(v VecVirtual, q, h, j int) {
	lane := q*k.perQuarter() + h*k.perQuarter()/2
	if k.l.Double {
		VMOVUPD(k.place(k.x, lane, j), v.AsX())
		return
	}
	VMOVSD(k.place(k.x, lane, j), v.AsX())
	VMOVHPS(k.place(k.x, lane+1, j), v.AsX(), v.AsX())
}

// add adds alpha times one or two registers to elements j, j+1 of y for the block of each
// lane, one lane after the other: they may have the same.
func (k *kernel) add(sums []Register, j int) {
	var scaled []VecVirtual
	alpha := k.alpha
	if alpha == nil {
		alpha = k.l.Reg()
		k.l.Broadcast(lanes.Arg("alpha"), alpha)
	}
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
	for q := range k.l.Bytes() / quarterBytes {
		for h, v := range []VecVirtual{lo, hi} {
			part, lane := k.l.Quarter(v, q), q*k.perQuarter()+h*k.perQuarter()/2
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
