package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Operations on the lanes of a mask: a register for masks where there are such, else one
// whose lanes have all bits set or none. Memory of the other lanes is not touched.

// LoadMasked loads the lanes of a mask and clears the others.
func (l Lanes) LoadMasked(m Mem, mask, v Register) {
	if l.Opmasks() {
		Pick(l, VMOVUPD_Z, VMOVUPS_Z)(m, mask, v)
	} else {
		Pick(l, VMASKMOVPD, VMASKMOVPS)(m, mask, v)
	}
}

// StoreMasked stores the lanes of a mask.
func (l Lanes) StoreMasked(v, mask Register, m Mem) {
	if l.Opmasks() {
		Pick(l, VMOVUPD, VMOVUPS)(v, mask, m)
	} else {
		Pick(l, VMASKMOVPD, VMASKMOVPS)(v, mask, m)
	}
}

// FMAMasked is FMA in the lanes of a mask, which has a register for masks. a may be memory.
func (l Lanes) FMAMasked(a Op, b, mask, acc Register) {
	Pick(l, VFMADD231PD, VFMADD231PS)(a, b, mask, acc)
}

// MulMasked is dst = a*b in the lanes of a mask, which has a register for masks, and 0 in the
// others. a may be memory.
func (l Lanes) MulMasked(a Op, b, mask, dst Register) {
	Pick(l, VMULPD_Z, VMULPS_Z)(a, b, mask, dst)
}
