package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// elem is what differs between float64 and float32.
type elem interface {
	size() int
	// load8 gives the elements at eight places, in two registers or one.
	load8(place func(i int) Mem) []VecVirtual
	// packed operations work on whole registers, the others on the lowest element.
	fmaPacked(m, v, acc Op)
	addPacked(a, b, dst Op)
	mulPacked(a, b, dst Op)
	broadcast(m, dst Op)
	load(m, dst Op)
	store(src, m Op)
	fma(m, v, acc Op)
	add(a, b, dst Op)
	mul(a, b, dst Op)
	// reduce adds the elements of y up, in the lowest one of x.
	reduce(y, x VecVirtual)
	// reduce4 stores the sums of the elements of each of four registers.
	reduce4(v [4]VecVirtual, to Mem)
	// bits puts the sign of an element in memory in the highest bit of a register,
	// and the others below it.
	bits(m Mem, dst GPVirtual)
}

type double struct{}

func (double) size() int { return 8 }

func (double) load8(place func(i int) Mem) []VecVirtual {
	var v []VecVirtual
	for i := 0; i < 8; i += 4 {
		lo, hi := YMM(), XMM()
		VMOVSD(place(i), lo.AsX())
		VMOVHPD(place(i+1), lo.AsX(), lo.AsX())
		VMOVSD(place(i+2), hi)
		VMOVHPD(place(i+3), hi, hi)
		VINSERTF128(Imm(1), hi, lo, lo)
		v = append(v, lo)
	}
	return v
}

func (double) fmaPacked(m, v, acc Op) { VFMADD231PD(m, v, acc) }
func (double) addPacked(a, b, dst Op) { VADDPD(a, b, dst) }
func (double) mulPacked(a, b, dst Op) { VMULPD(a, b, dst) }
func (double) broadcast(m, dst Op)    { VBROADCASTSD(m, dst) }
func (double) load(m, dst Op)         { VMOVSD(m, dst) }
func (double) store(src, m Op)        { VMOVSD(src, m) }
func (double) fma(m, v, acc Op)       { VFMADD231SD(m, v, acc) }
func (double) add(a, b, dst Op)       { VADDSD(a, b, dst) }
func (double) mul(a, b, dst Op)       { VMULSD(a, b, dst) }

func (double) reduce(y, x VecVirtual) {
	VEXTRACTF128(Imm(1), y, x)
	VADDPD(y.AsX(), x, x)
	h := XMM()
	VUNPCKHPD(x, x, h)
	VADDSD(h, x, x)
}

func (double) reduce4(v [4]VecVirtual, to Mem) {
	VHADDPD(v[1], v[0], v[0])
	VHADDPD(v[3], v[2], v[2])
	t := YMM()
	VPERM2F128(Imm(0x21), v[2], v[0], t)
	VBLENDPD(Imm(0b1100), v[2], v[0], v[0])
	VADDPD(t, v[0], v[0])
	VMOVUPD(v[0], to)
}

func (double) bits(m Mem, dst GPVirtual) { MOVQ(m, dst) }

type single struct{}

func (single) size() int { return 4 }

func (single) load8(place func(i int) Mem) []VecVirtual {
	var half [2]VecVirtual
	for h := range half {
		half[h] = YMM()
		VMOVSS(place(4*h), half[h].AsX())
		for i := 1; i < 4; i++ {
			VINSERTPS(Imm(uint64(i<<4)), place(4*h+i), half[h].AsX(), half[h].AsX())
		}
	}
	VINSERTF128(Imm(1), half[1].AsX(), half[0], half[0])
	return half[:1]
}

func (single) fmaPacked(m, v, acc Op) { VFMADD231PS(m, v, acc) }
func (single) addPacked(a, b, dst Op) { VADDPS(a, b, dst) }
func (single) mulPacked(a, b, dst Op) { VMULPS(a, b, dst) }
func (single) broadcast(m, dst Op)    { VBROADCASTSS(m, dst) }
func (single) load(m, dst Op)         { VMOVSS(m, dst) }
func (single) store(src, m Op)        { VMOVSS(src, m) }
func (single) fma(m, v, acc Op)       { VFMADD231SS(m, v, acc) }
func (single) add(a, b, dst Op)       { VADDSS(a, b, dst) }
func (single) mul(a, b, dst Op)       { VMULSS(a, b, dst) }

func (single) reduce(y, x VecVirtual) {
	VEXTRACTF128(Imm(1), y, x)
	VADDPS(y.AsX(), x, x)
	h := XMM()
	VMOVHLPS(x, x, h)
	VADDPS(h, x, x)
	VMOVSHDUP(x, h)
	VADDSS(h, x, x)
}

func (single) reduce4(v [4]VecVirtual, to Mem) {
	VHADDPS(v[1], v[0], v[0])
	VHADDPS(v[3], v[2], v[2])
	VHADDPS(v[2], v[0], v[0])
	h := XMM()
	VEXTRACTF128(Imm(1), v[0], h)
	VADDPS(h, v[0].AsX(), h)
	VMOVUPS(h, to)
}

func (single) bits(m Mem, dst GPVirtual) {
	MOVL(m, dst.As32())
	SHLQ(Imm(32), dst)
}
