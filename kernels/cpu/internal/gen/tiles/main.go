// Command tiles generates the kernels that multiply one tile of a matrix by one vector or by several.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
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
	lanes.DefineCounts()
	for _, l := range append(lanes.All(), lanes.Halves()...) {
		manyTile(lanes.Part{Lanes: l})
	}
	lanes.WriteFiles()
}

const (
	unroll = 8 // entries of a round
	line   = 64
)

// The numbers of bytes by which values and entries are prefetched. They go to the second-level
// cache: the first-level cache waits for few lines at a time.
const (
	valuesAhead  = 8192
	entriesAhead = 4096
)

// kernel has the registers of a kernel.
type kernel struct {
	lanes.Lanes
	storage             string // storage of the values
	width               int    // bytes of a value; 0 if all are equal
	transposed          bool
	acc, x              Register
	entries, values     Register
	next, end, perRound Register // lines to prefetch
	same                VecVirtual
	two                 GPVirtual // two entries
	// Control words of BEXTR for these: the first bit, and the number of bits times 256.
	firstRow, secondCol Register
}

// tile generates the kernel for one storage of values. The kernel of the transposed tile exchanges
// rows and columns.
//
// An entry loads x and adds the product to an element of acc in memory, rounded once. There is no
// branch on the rows. Loads and stores limit it, so values are loaded by registers, and two entries
// at a time.
func tile(l lanes.Lanes, storage string, transposed bool) {
	name := "tile"
	if transposed {
		name = "tileTransposed"
	}
	name += l.TypeName() + storage + "AVX2"
	l.FuncOf(name, "tileArgs[V]", "acc, x *V, entries *uint32, values *byte, n int, ahead *V, lines, perRound int",
		"is for the type and the storage in its name; see tileArgs.")
	k := &kernel{Lanes: l, storage: storage, transposed: transposed}
	left := k.begin()

	SUBQ(Imm(unroll), left)
	JL(LabelRef("rest"))
	Label("several")
	k.prefetch()
	if k.width > 0 {
		PREFETCHT1(Mem{Base: k.values, Disp: valuesAhead})
	}
	PREFETCHT1(Mem{Base: k.entries, Disp: entriesAhead})
	var values []VecVirtual
	for i := range unroll {
		if len(values) == 0 {
			values = k.several(i)
		}
		if i%2 == 0 {
			k.load(i)
		}
		row, col := k.place(i % 2)
		k.add(row, col, values[0])
		values = values[1:]
	}
	k.advance(unroll)
	SUBQ(Imm(unroll), left)
	JGE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(unroll), left)
	JZ(LabelRef("done"))
	Label("one")
	k.one()
	k.advance(1)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

// begin loads the arguments and returns the number of entries.
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
	k.firstRow, k.secondCol = GP64(), GP64()
	MOVQ(U32(16|16<<8), k.firstRow)
	MOVQ(U32(32|16<<8), k.secondCol)
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

// prefetch prefetches the lines of a round until none are left.
func (k *kernel) prefetch() {
	CMPQ(k.next, k.end)
	JAE(LabelRef("prefetched"))
	few := GP64()
	MOVQ(k.perRound, few)
	Label("prefetch")
	PREFETCHT1(Mem{Base: k.next})
	ADDQ(Imm(line), k.next)
	DECQ(few)
	JNZ(LabelRef("prefetch"))
	Label("prefetched")
}

// several returns the values of the entries from i on, each as the lowest element of a register.
func (k *kernel) several(i int) []VecVirtual {
	v := YMM()
	switch from := (Mem{Base: k.values, Disp: k.width * i}); k.storage {
	case "Same":
		return []VecVirtual{k.same}
	case "Short":
		VCVTPS2PD(from, v)
	default:
		k.Load(from, v)
	}
	return k.Elements(v)
}

// value returns the value of the next entry.
func (k *kernel) value() VecVirtual {
	from, v := Mem{Base: k.values}, XMM()
	switch k.storage {
	case "Same":
		return k.same
	case "Short":
		VXORPS(v, v, v)
		VCVTSS2SD(from, v, v)
	default:
		k.MoveOne(from, v)
	}
	return v
}

// load loads entries i and i+1.
func (k *kernel) load(i int) {
	k.two = GP64()
	MOVQ(Mem{Base: k.entries, Disp: 4 * i}, k.two)
}

// place returns the row and the column of the first or the second of the two entries. They must be
// requested in this order.
func (k *kernel) place(i int) (row, col GPVirtual) {
	row, col = k.two, GP64()
	if i == 0 {
		row = GP64()
		MOVWLZX(k.two.As16(), col.As32())
		BEXTRQ(k.firstRow, k.two, row)
	} else {
		BEXTRQ(k.secondCol, k.two, col)
		SHRQ(Imm(48), row)
	}
	return row, col
}

// one adds the next entry.
func (k *kernel) one() {
	row, col := GP64(), GP64()
	MOVL(Mem{Base: k.entries}, row.As32())
	MOVWLZX(row.As16(), col.As32())
	SHRL(Imm(16), row.As32())
	k.add(row, col, k.value())
}

// add adds a value of a row and a column, times x.
func (k *kernel) add(row, col GPVirtual, value VecVirtual) {
	if k.transposed {
		col, row = row, col
	}
	sum, to := XMM(), Mem{Base: k.acc, Index: row, Scale: uint8(k.Size())}
	k.MoveOne(to, sum)
	k.FMAOne(Mem{Base: k.x, Index: col, Scale: uint8(k.Size())}, value, sum)
	k.MoveOne(sum, to)
}

// advance moves the pointers by n entries.
func (k *kernel) advance(n int) {
	ADDQ(Imm(uint64(4*n)), k.entries)
	if k.width > 0 {
		ADDQ(Imm(uint64(k.width*n)), k.values)
	}
}
