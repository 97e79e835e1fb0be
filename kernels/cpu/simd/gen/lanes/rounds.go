package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Rounds goes through as many entries as left says, and on to label end. round takes n of them as
// long as so many ahead can be read behind these, where the argument more counts those behind the
// last one; then one takes each of the others.
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
