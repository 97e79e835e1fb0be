// Command tiles generates the assembly that multiplies one tile of a matrix.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	double, single := lanes.Lanes{Double: true}, lanes.Lanes{}
	for _, transposed := range []bool{false, true} {
		tile(double, "Full", transposed)
		tile(double, "Short", transposed)
		tile(double, "Same", transposed)
		tile(single, "Full", transposed)
		tile(single, "Same", transposed)
	}
	Generate()
}

const (
	unroll = 8 // entries of a round
	line   = 64
)

// How many bytes before their turn values and entries are asked for. They come to the second
// cache: the first one waits for few lines at a time.
const (
	valuesAhead  = 8192
	entriesAhead = 4096
)

// kernel is the registers of a kernel.
type kernel struct {
	lanes.Lanes
	storage             string // of values
	width               int    // bytes of a value; 0 where it is the same for all
	transposed          bool
	acc, x              Register
	entries, values     Register
	next, end, perRound Register // what to ask for
	same                VecVirtual
}

// tile generates the kernel for values that are stored in one of the ways. That of the
// transposed tile takes rows for columns.
//
// Each entry is a load of x, and a product that is added to an element of acc in
// memory with one rounding: no branch depends on the rows. All loads are of single elements; wider
// registers would gain nothing.
func tile(l lanes.Lanes, storage string, transposed bool) {
	name := "tile"
	if transposed {
		name = "tileTransposed"
	}
	name += l.TypeName() + storage + "AVX2"
	l.Func(name, "func(acc, x *V, entries *uint32, values *byte, n int, ahead *V, lines, perRound int)",
		"adds n entries to acc, and asks for lines of 64 bytes from ahead on:",
		"perRound of them, at least 1, for every 8 entries.")
	k := &kernel{Lanes: l, storage: storage, transposed: transposed}
	left := k.begin()

	SUBQ(Imm(unroll), left)
	JL(LabelRef("rest"))
	Label("several")
	k.ask()
	if k.width > 0 {
		PREFETCHT1(Mem{Base: k.values, Disp: valuesAhead})
	}
	PREFETCHT1(Mem{Base: k.entries, Disp: entriesAhead})
	for i := range unroll {
		k.entry(i)
	}
	k.advance(unroll)
	SUBQ(Imm(unroll), left)
	JGE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(unroll), left)
	JZ(LabelRef("done"))
	Label("one")
	k.entry(0)
	k.advance(1)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("done")
	RET()
}

// begin loads the arguments and gives the number of entries.
func (k *kernel) begin() (left Register) {
	k.acc = Load(Param("acc"), GP64())
	k.x = Load(Param("x"), GP64())
	k.entries = Load(Param("entries"), GP64())
	k.values = Load(Param("values"), GP64())
	left = Load(Param("n"), GP64())
	k.next = Load(Param("ahead"), GP64())
	k.end = Load(Param("lines"), GP64())
	k.perRound = Load(Param("perRound"), GP64())
	SHLQ(Imm(6), k.end)
	ADDQ(k.next, k.end)
	k.same = XMM()
	switch k.storage {
	case "Same":
		k.MoveOne(Mem{Base: k.values}, k.same)
	case "Short":
		k.width = 4
	default:
		k.width = k.Size()
	}
	return left
}

// ask asks for the lines of a round, until there are none left.
func (k *kernel) ask() {
	CMPQ(k.next, k.end)
	JAE(LabelRef("asked"))
	few := GP64()
	MOVQ(k.perRound, few)
	Label("ask")
	PREFETCHT1(Mem{Base: k.next})
	ADDQ(Imm(line), k.next)
	DECQ(few)
	JNZ(LabelRef("ask"))
	Label("asked")
}

// entry adds entry i behind the pointers.
func (k *kernel) entry(i int) {
	col, row := GP64(), GP64()
	MOVL(Mem{Base: k.entries, Disp: 4 * i}, row.As32())
	MOVWLZX(row.As16(), col.As32())
	SHRL(Imm(16), row.As32())
	if k.transposed {
		col, row = row, col
	}
	value, sum := k.same, XMM()
	switch k.storage {
	case "Same":
	case "Short":
		value = XMM()
		VXORPS(value, value, value)
		VCVTSS2SD(Mem{Base: k.values, Disp: 4 * i}, value, value)
	default:
		value = XMM()
		k.MoveOne(Mem{Base: k.values, Disp: k.Size() * i}, value)
	}
	to := Mem{Base: k.acc, Index: row, Scale: uint8(k.Size())}
	k.MoveOne(to, sum)
	k.FMAOne(Mem{Base: k.x, Index: col, Scale: uint8(k.Size())}, value, sum)
	k.MoveOne(sum, to)
}

// advance moves the pointers behind n entries.
func (k *kernel) advance(n int) {
	ADDQ(Imm(uint64(4*n)), k.entries)
	if k.width > 0 {
		ADDQ(Imm(uint64(k.width*n)), k.values)
	}
}
