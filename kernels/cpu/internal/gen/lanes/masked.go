package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Operations on the lanes of a mask: a mask register, or a register with lanes of all ones or all
// zeros. Memory of the other lanes is not accessed.

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

// FMAMasked computes acc += a*b in the lanes of a mask register. a may be memory.
func (l Lanes) FMAMasked(a Op, b, mask, acc Register) {
	Pick(l, VFMADD231PD, VFMADD231PS)(a, b, mask, acc)
}

// MulMasked computes dst = a*b in the lanes of a mask register, and 0 in the others. a may be
// memory.
func (l Lanes) MulMasked(a Op, b, mask, dst Register) {
	Pick(l, VMULPD_Z, VMULPS_Z)(a, b, mask, dst)
}
