package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Entries returns bases such that entry k of the fields idx and val of a is at idx+4k and val+size*k.
// k counts as in ptr, where the first entry is first.
func (l Lanes) Entries(a *Arguments, first Register) (idx, val Register) {
	idx, val = a.Load("idx"), a.Load("val")
	t := GP64()
	MOVQ(first, t)
	SHLQ(Imm(2), t)
	SUBQ(t, idx)
	if l.Double {
		SHLQ(Imm(1), t)
	}
	SUBQ(t, val)
	return idx, val
}
