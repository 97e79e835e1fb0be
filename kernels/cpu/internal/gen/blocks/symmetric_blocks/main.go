// Command symmetricblocks generates the kernels of symmetric matrices of dense blocks of which only
// those on the diagonal and before it are stored: each entry is multiplied for its row and for its
// column.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineBits()
	for _, double := range []bool{true, false} {
		for size := 2; size <= 6; size++ {
			blocks(lanes.Lanes{Double: double}, size)
		}
	}
	Generate()
}

// inRegisters is the largest size of blocks that have x of their rows in registers.
const inRegisters = 3

// kernel is one kernel, for blocks of size x size.
type kernel struct {
	l      lanes.Lanes
	size   int
	own    []Op         // x of the rows of each lane
	acc    []VecVirtual // sums of the rows of each lane
	lanes  *lanes.Mask
	at     []GPVirtual // first column of the block of each lane
	val    Register
	x, y   Register
	column GPVirtual // columns left in the slice
	t      GPVirtual
	// Registers that gather fills in parts: avo keeps these alive throughout, so they are shared.
	pairs [2]VecVirtual
	one   VecVirtual
}

// blocks generates a kernel.
func blocks(l lanes.Lanes, size int) {
	name := fmt.Sprintf("symmetricBlocks%d%s", size, l.Suffix())
	l.Func(name, "func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x, y *V, first int, alpha V)",
		"computes MultiplySymmetricBlocks for n slices and the size of blocks in its name:",
		"",
		"\tfor every block row r of every slice, and each of its blocks with first column c:",
		"\t\ty[r+i-first] += alpha * val[j][i] * x[c+j]",
		"\t\ty[c+j-first] += alpha * val[j][i] * x[r+i]  if the block is before the diagonal")
	k := &kernel{l: l, size: size, column: GP64(), t: GP64(), pairs: [2]VecVirtual{l.Reg(), l.Reg()}, one: l.Reg()}
	k.registers()
	for range l.Count() {
		k.at = append(k.at, GP64())
	}
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	k.y = Load(Param("y"), GP64())
	MOVQ(lanes.Arg("first"), k.t)
	IMUL3Q(U32(l.Size()), k.t, k.t)
	SUBQ(k.t, k.y)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	MOVQ(lanes.Arg("widths"), k.t)
	MOVL(Mem{Base: k.t}, k.column.As32())
	k.diagonal()
	JMP(LabelRef("next"))
	Label("column")
	k.before()
	Label("next")
	DECQ(k.column)
	JNZ(LabelRef("column"))
	k.finish()
	ADDQ(Imm(4), lanes.Arg("widths"))
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// registers allocates own and acc. Own is in memory for large blocks, because there are too few
// registers.
func (k *kernel) registers() {
	k.lanes = k.l.NewMask()
	room := Mem{}
	if k.size > inRegisters {
		room = AllocLocal(k.size * k.l.Bytes())
	}
	for i := range k.size {
		k.acc = append(k.acc, k.l.Reg())
		if k.size > inRegisters {
			k.own = append(k.own, room.Offset(i*k.l.Bytes()))
		} else {
			k.own = append(k.own, k.l.Reg())
		}
	}
}

// open loads the columns and the mask of the next blocks.
func (k *kernel) open() {
	MOVQ(lanes.Arg("masks"), k.t)
	k.lanes.Load(Mem{Base: k.t})
	ADDQ(Imm(2), lanes.Arg("masks"))
	MOVQ(lanes.Arg("idx"), k.t)
	ADDQ(Imm(uint64(4*k.l.Count())), lanes.Arg("idx"))
	k.columns()
}

// columns loads the columns at t.
func (k *kernel) columns() {
	for lane, at := range k.at {
		MOVL(Mem{Base: k.t, Disp: 4 * lane}, at.As32())
	}
}

// place returns element j of a vector for the block of a lane.
func (k *kernel) place(vector Register, lane, j int) Mem {
	return Mem{Base: vector, Index: k.at[lane], Scale: uint8(k.l.Size()), Disp: k.l.Size() * j}
}

// value returns the memory of row i and column j of the blocks.
func (k *kernel) value(i, j int) Mem {
	return Mem{Base: k.val, Disp: (j*k.size + i) * k.l.Bytes()}
}

// diagonal multiplies the blocks on the diagonal, which come first in a slice.
func (k *kernel) diagonal() {
	k.open()
	for j := 0; j < k.size; j += 2 {
		for c, x := range k.gather(j) {
			k.move(x, k.own[j+c])
		}
	}
	for _, acc := range k.acc {
		k.l.Zero(acc)
	}
	for j := range k.size {
		own := k.l.Reg()
		k.lanes.Keep(k.own[j], own)
		for i, acc := range k.acc {
			k.l.FMA(k.value(i, j), own, acc)
		}
	}
	ADDQ(U32(k.size*k.size*k.l.Bytes()), k.val)
}

// before multiplies blocks before the diagonal.
func (k *kernel) before() {
	k.open()
	for j := 0; j < k.size; j += 2 {
		var sums []VecVirtual
		for c, x := range k.gather(j) {
			sums = append(sums, k.product(j+c, x))
		}
		k.add(sums, j)
	}
	ADDQ(U32(k.size*k.size*k.l.Bytes()), k.val)
}

// product adds column j of the blocks to the sums of their rows, and returns the sums of the
// column. Values that do not exist are 0, and their x is set to 0.
func (k *kernel) product(j int, x VecVirtual) VecVirtual {
	sum := k.l.Reg()
	k.lanes.Keep(x, x)
	for i := range k.size {
		v := k.l.Reg()
		k.l.Load(k.value(i, j), v)
		k.l.FMA(v, x, k.acc[i])
		if i > 0 {
			k.l.FMA(k.own[i], v, sum)
		} else {
			k.l.Mul(k.own[i], v, sum)
		}
	}
	k.lanes.Keep(sum, sum)
	return sum
}

// finish adds the sums of the rows to y.
func (k *kernel) finish() {
	MOVQ(lanes.Arg("widths"), k.t)
	MOVL(Mem{Base: k.t}, k.column.As32())
	// The columns of the blocks on the diagonal are the rows.
	IMUL3Q(U32(4*k.l.Count()), k.column, k.column)
	MOVQ(lanes.Arg("idx"), k.t)
	SUBQ(k.column, k.t)
	k.columns()
	for j := 0; j < k.size; j += 2 {
		k.add(k.acc[j:min(j+2, k.size)], j)
	}
}

// move copies a register to a register or to memory.
func (k *kernel) move(from VecVirtual, to Op) {
	if m, ok := to.(Mem); ok {
		k.l.Store(from, m)
	} else {
		lanes.Pick(k.l, VMOVAPD, VMOVAPS)(from, to)
	}
}
