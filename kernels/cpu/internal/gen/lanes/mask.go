package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Mask selects lanes: bit i of a 16-bit word stands for lane i.
type Mask struct {
	l    Lanes
	bits VecVirtual // 256 bits: bit i in lane i
	k    OpmaskVirtual
	v    VecVirtual
}

// NewMask allocates the registers of a mask.
func (l Lanes) NewMask() *Mask {
	m := &Mask{l: l}
	if l.Long {
		m.k = K()
		return m
	}
	m.bits, m.v = YMM(), YMM()
	VMOVUPS(static(l.ofType("laneBits")), m.bits)
	return m
}

// DefineBits defines the data of masks of 256 bits, once per file.
func DefineBits() { defineBoth("laneBits", func(i int) uint64 { return 1 << i }) }

// Load sets the mask from a word in memory.
func (m *Mask) Load(w Mem) {
	if m.l.Long {
		KMOVW(w, m.k)
		return
	}
	g := GP32()
	MOVWLZX(w, g)
	VMOVD(g, m.v.AsX())
	m.l.Spread(m.v)
	VPAND(m.bits, m.v, m.v)
	Pick(m.l, VPCMPEQQ, VPCMPEQD)(m.bits, m.v, m.v)
}

// Fill selects all lanes. The mask must be in a mask register.
func (m *Mask) Fill() { KXNORW(m.k, m.k, m.k) }

// FMA computes acc += a*b in the lanes of the mask. a may be memory: all of it is read.
func (m *Mask) FMA(a Op, b, acc VecVirtual) {
	l := m.l
	if l.Long {
		l.FMAMasked(a, b, m.k, acc)
		return
	}
	t := l.Reg()
	VMOVAPS(acc, t)
	l.FMA(a, b, t)
	Pick(l, VBLENDVPD, VBLENDVPS)(m.v, t, acc, acc)
}

// Mul computes dst = a*b in the lanes of the mask, and 0 in the others. a may be memory: all of it
// is read.
func (m *Mask) Mul(a Op, b, dst VecVirtual) {
	l := m.l
	if l.Long {
		l.MulMasked(a, b, m.k, dst)
	} else {
		l.Mul(a, b, dst)
		m.Keep(dst, dst)
	}
}

// Keep computes dst = v in the lanes of the mask, and 0 in the others. v may be memory: all of it
// is read. It is for 256 bits.
func (m *Mask) Keep(v Op, dst VecVirtual) { VANDPS(v, m.v, dst) }

// LoadLanes loads the lanes of the mask and clears the others, whose memory is not accessed.
func (m *Mask) LoadLanes(from Mem, v VecVirtual) { m.l.LoadMasked(from, m.register(), v) }

// StoreLanes stores the lanes of the mask; the memory of the others is not accessed.
func (m *Mask) StoreLanes(v VecVirtual, to Mem) { m.l.StoreMasked(v, m.register(), to) }

func (m *Mask) register() Register {
	if m.l.Long {
		return m.k
	}
	return m.v
}
