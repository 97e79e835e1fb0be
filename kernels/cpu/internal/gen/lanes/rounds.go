package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Rounds generates the loops over left entries and then jumps to label end. round processes n
// entries while n + ahead entries can be read, where the argument more is the number of readable
// entries after the last one. one processes each of the other entries.
func Rounds(left Register, n, ahead int, end string, round, one func()) {
	ADDQ(Arg("more"), left)
	SUBQ(Imm(uint64(n+ahead)), left)
	JL(LabelRef("rest"))
	Label("several")
	round()
	SUBQ(Imm(uint64(n)), left)
	JGE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(uint64(n+ahead)), left)
	SUBQ(Arg("more"), left)
	JLE(LabelRef(end))
	Label("one")
	one()
	DECQ(left)
	JNZ(LabelRef("one"))
}
