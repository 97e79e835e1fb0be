package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Entries returns bases such that entry k of the arguments idx and val is at idx+4k and val+size*k.
// k counts as in ptr, where the first entry is first.
func (l Lanes) Entries(first Register) (idx, val Register) {
	idx = Load(Param("idx").Base(), GP64())
	val = Load(Param("val").Base(), GP64())
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
