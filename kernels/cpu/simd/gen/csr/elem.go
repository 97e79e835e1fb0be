package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// elem is what differs between float64 and float32.
type elem interface {
	size() int
	// load4 puts x[at[0]] ... x[at[3]] into a register.
	load4(x Register, at [4]GPVirtual, dst VecVirtual)
	// load8 gives the eight elements of two calls of load4 in one or two registers.
	load8(four func(half int) VecVirtual) []VecVirtual
	// packed operations work on whole registers, the others on the lowest element.
	fmaPacked(m, v, acc Op)
	addPacked(a, b, dst Op)
	load(m, dst Op)
	store(src, m Op)
	fma(m, v, acc Op)
	add(a, b, dst Op)
	mul(a, b, dst Op)
	// reduce adds the elements of y up, in the lowest one of x.
	reduce(y, x VecVirtual)
	// bits puts the sign of an element in memory in the highest bit of a register,
	// and the others below it.
	bits(m Mem, dst GPVirtual)
}

type double struct{}

func (double) size() int { return 8 }

func (double) load4(x Register, at [4]GPVirtual, dst VecVirtual) {
	hi := XMM()
	VMOVSD(Mem{Base: x, Index: at[0], Scale: 8}, dst.AsX())
	VMOVSD(Mem{Base: x, Index: at[2], Scale: 8}, hi)
	VMOVHPD(Mem{Base: x, Index: at[1], Scale: 8}, dst.AsX(), dst.AsX())
	VMOVHPD(Mem{Base: x, Index: at[3], Scale: 8}, hi, hi)
	VINSERTF128(Imm(1), hi, dst, dst)
}

func (double) load8(four func(half int) VecVirtual) []VecVirtual {
	return []VecVirtual{four(0), four(1)}
}

func (double) fmaPacked(m, v, acc Op) { VFMADD231PD(m, v, acc) }
func (double) addPacked(a, b, dst Op) { VADDPD(a, b, dst) }
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

func (double) bits(m Mem, dst GPVirtual) { MOVQ(m, dst) }

type single struct{}

func (single) size() int { return 4 }

func (single) load4(x Register, at [4]GPVirtual, dst VecVirtual) {
	VMOVSS(Mem{Base: x, Index: at[0], Scale: 4}, dst.AsX())
	for i := 1; i < 4; i++ {
		VINSERTPS(Imm(uint64(i<<4)), Mem{Base: x, Index: at[i], Scale: 4}, dst.AsX(), dst.AsX())
	}
}

func (single) load8(four func(half int) VecVirtual) []VecVirtual {
	lo, hi := four(0), four(1)
	VINSERTF128(Imm(1), hi.AsX(), lo, lo)
	return []VecVirtual{lo}
}

func (single) fmaPacked(m, v, acc Op) { VFMADD231PS(m, v, acc) }
func (single) addPacked(a, b, dst Op) { VADDPS(a, b, dst) }
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

func (single) bits(m Mem, dst GPVirtual) {
	MOVL(m, dst.As32())
	SHLQ(Imm(32), dst)
}
