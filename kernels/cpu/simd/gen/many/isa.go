package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// elem is float64 or float32.
type elem struct {
	name, typ string
	size      int
}

// pick is the instruction for the element.
func (e elem) pick(double, single func(...Op)) func(...Op) {
	if e.size == 8 {
		return double
	}
	return single
}

// isa is what differs between the instruction sets.
type isa interface {
	name() string
	bytes() int // of a register
	vec() VecVirtual
	broadcast(m Op, dst VecVirtual)
	mul(a, b, dst VecVirtual)
	// setMask makes the mask of the first n elements, which the masked operations use.
	setMask(n GPVirtual)
	fma(m Mem, v, acc VecVirtual, masked bool)
	store(v VecVirtual, m Mem, masked bool)
	// stream writes a whole register around the caches.
	stream(v VecVirtual, m Mem)
}

var mask Register // of the function that is being generated

type avx512 struct{ elem }

func (avx512) name() string    { return "AVX512" }
func (avx512) bytes() int      { return 64 }
func (avx512) vec() VecVirtual { return ZMM() }

func (a avx512) broadcast(m Op, dst VecVirtual) {
	a.pick(VBROADCASTSD, VBROADCASTSS)(m, dst)
}

func (a avx512) mul(x, y, dst VecVirtual) { a.pick(VMULPD, VMULPS)(x, y, dst) }

func (avx512) setMask(n GPVirtual) {
	ones := GP64()
	MOVQ(I32(-1), ones)
	BZHIQ(n, ones, ones)
	mask = K()
	KMOVW(ones.As32(), mask)
}

func (a avx512) fma(m Mem, v, acc VecVirtual, masked bool) {
	f := a.pick(VFMADD231PD, VFMADD231PS)
	if masked {
		f(m, v, mask, acc)
	} else {
		f(m, v, acc)
	}
}

func (a avx512) store(v VecVirtual, m Mem, masked bool) {
	f := a.pick(VMOVUPD, VMOVUPS)
	if masked {
		f(v, mask, m)
	} else {
		f(v, m)
	}
}

func (a avx512) stream(v VecVirtual, m Mem) { a.pick(VMOVNTPD, VMOVNTPS)(v, m) }

type avx2 struct {
	elem
	counts Mem // 0, 1, 2, ...
}

func (avx2) name() string    { return "AVX2" }
func (avx2) bytes() int      { return 32 }
func (avx2) vec() VecVirtual { return YMM() }

func (a avx2) broadcast(m Op, dst VecVirtual) { a.pick(VBROADCASTSD, VBROADCASTSS)(m, dst) }

func (a avx2) mul(x, y, dst VecVirtual) { a.pick(VMULPD, VMULPS)(x, y, dst) }

func (a avx2) setMask(n GPVirtual) {
	x, y := XMM(), YMM()
	VMOVQ(n, x)
	if a.size == 8 {
		VPBROADCASTQ(x, y)
		VPCMPGTQ(a.counts, y, y)
	} else {
		VPBROADCASTD(x, y)
		VPCMPGTD(a.counts, y, y)
	}
	mask = y
}

func (a avx2) fma(m Mem, v, acc VecVirtual, masked bool) {
	f := a.pick(VFMADD231PD, VFMADD231PS)
	if !masked {
		f(m, v, acc)
		return
	}
	t := YMM()
	a.pick(VMASKMOVPD, VMASKMOVPS)(m, mask, t)
	f(t, v, acc)
}

func (a avx2) store(v VecVirtual, m Mem, masked bool) {
	if masked {
		a.pick(VMASKMOVPD, VMASKMOVPS)(v, mask, m)
	} else {
		a.pick(VMOVUPD, VMOVUPS)(v, m)
	}
}

func (a avx2) stream(v VecVirtual, m Mem) { a.pick(VMOVNTPD, VMOVNTPS)(v, m) }

// iota is the numbers 0, 1, 2, ... of one register, in integers of the size of e.
func iota(e elem) Mem {
	m := GLOBL(fmt.Sprintf("counts%s", e.name), RODATA|NOPTR)
	for i := range 32 / e.size {
		if e.size == 8 {
			DATA(8*i, U64(uint64(i)))
		} else {
			DATA(4*i, U32(uint32(i)))
		}
	}
	return m
}
