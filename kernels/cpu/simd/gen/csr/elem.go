package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// load8 gives the elements at eight places, in two registers or one.
func load8(l lanes.Lanes, place func(i int) Mem) (v []VecVirtual) {
	for at := 0; at < 8; at += l.Count() {
		v = append(v, l.GatherFrom(func(lane int) Mem { return place(at + lane) }))
	}
	return v
}

// reduce adds the elements of y up, in the lowest one of x.
func reduce(l lanes.Lanes, y, x VecVirtual) {
	VEXTRACTF128(Imm(1), y, x)
	l.Add(y.AsX(), x, x)
	h := XMM()
	if l.Double {
		VUNPCKHPD(x, x, h)
	} else {
		VMOVHLPS(x, x, h)
		l.Add(h, x, x)
		VMOVSHDUP(x, h)
	}
	l.AddOne(h, x, x)
}

// reduce4 stores the sums of the elements of each of four registers.
func reduce4(l lanes.Lanes, v [4]VecVirtual, to Mem) {
	hadd := lanes.Pick(l, VHADDPD, VHADDPS)
	hadd(v[1], v[0], v[0])
	hadd(v[3], v[2], v[2])
	if l.Double {
		t := YMM()
		VPERM2F128(Imm(0x21), v[2], v[0], t)
		VBLENDPD(Imm(0b1100), v[2], v[0], v[0])
		VADDPD(t, v[0], v[0])
		VMOVUPD(v[0], to)
		return
	}
	hadd(v[2], v[0], v[0])
	h := XMM()
	VEXTRACTF128(Imm(1), v[0], h)
	VADDPS(h, v[0].AsX(), h)
	VMOVUPS(h, to)
}
