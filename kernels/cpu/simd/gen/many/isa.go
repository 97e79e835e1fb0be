package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// part is registers of which one may be filled in part: only its first elements
// are read and written.
type part struct {
	lanes.Lanes
	mask Register
}

// setMask makes the mask of the first n elements.
func (p *part) setMask(n Register) {
	if p.Long {
		ones := GP64()
		MOVQ(I32(-1), ones)
		BZHIQ(n, ones, ones)
		k := K()
		KMOVW(ones.As32(), k)
		p.mask = k
		return
	}
	counts := GLOBL("counts"+p.Suffix(), RODATA|NOPTR)
	x, y := XMM(), YMM()
	VMOVQ(n, x)
	if p.Double {
		for i := range 4 {
			DATA(8*i, U64(uint64(i)))
		}
		VPBROADCASTQ(x, y)
		VPCMPGTQ(counts, y, y)
	} else {
		for i := range 8 {
			DATA(4*i, U32(uint32(i)))
		}
		VPBROADCASTD(x, y)
		VPCMPGTD(counts, y, y)
	}
	p.mask = y
}

// fmaPart is FMA of the first elements. With AVX2 the others of acc add zeros.
func (p *part) fmaPart(m Mem, v, acc VecVirtual) {
	switch {
	case p.Long && p.Double:
		VFMADD231PD(m, v, p.mask, acc)
	case p.Long:
		VFMADD231PS(m, v, p.mask, acc)
	default:
		t := YMM()
		if p.Double {
			VMASKMOVPD(m, p.mask, t)
		} else {
			VMASKMOVPS(m, p.mask, t)
		}
		p.FMA(t, v, acc)
	}
}

// storePart stores the first elements.
func (p *part) storePart(v VecVirtual, m Mem) {
	switch {
	case p.Long && p.Double:
		VMOVUPD(v, p.mask, m)
	case p.Long:
		VMOVUPS(v, p.mask, m)
	case p.Double:
		VMASKMOVPD(v, p.mask, m)
	default:
		VMASKMOVPS(v, p.mask, m)
	}
}

// add is dst = a + b.
func (p *part) add(a, b, dst VecVirtual) {
	if p.Double {
		VADDPD(a, b, dst)
	} else {
		VADDPS(a, b, dst)
	}
}

// stream stores a whole register around the caches.
func (p *part) stream(v VecVirtual, m Mem) {
	if p.Double {
		VMOVNTPD(v, m)
	} else {
		VMOVNTPS(v, m)
	}
}

// label numbers a label.
func label(name string, i int) string { return fmt.Sprintf("%s%d", name, i) }
