package lanes

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// EachColumn generates the loops over the columns of a slice: full is what is done in one
// in which every lane has an entry, masked in one behind these, where some have none.
// widths gives the address of the numbers of both, of 32 bits; left counts them down. Behind
// the last column without a mask it goes on at label done.
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
