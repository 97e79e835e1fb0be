package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// EachColumn generates the loops over the columns of a slice: full for each column in which every
// lane has an entry, then masked for each of the other columns. widths returns the address of the
// two numbers of columns, 32 bits each; left counts them down. If there are no masked columns, it
// jumps to label done after the full ones.
func EachColumn(widths func() Register, left GPVirtual, done string, full, masked func()) {
	MOVL(Mem{Base: widths()}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef("tail"))
	Label("full")
	full()
	DECQ(left)
	JNZ(LabelRef("full"))
	Label("tail")
	MOVL(Mem{Base: widths(), Disp: 4}, left.As32())
	TESTQ(left, left)
	JZ(LabelRef(done))
	Label("masked")
	masked()
	DECQ(left)
	JNZ(LabelRef("masked"))
}
