// Command symmetricblocks generates the kernels of symmetric matrices of dense blocks of
// which only those on the diagonal and before it are stored: each entry is multiplied for
// its row and for its column.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineBits()
	for _, l := range lanes.All() {
		for size := 2; size <= 6; size++ {
			blocks(l, size)
		}
	}
	Generate()
}

// inRegisters is the largest blocks of which AVX2 has x of their rows in registers.
const inRegisters = 3

// kernel is one kernel, of blocks of size x size.
type kernel struct {
	l      lanes.Lanes
	size   int
	alpha  VecVirtual // nil with AVX2, which loads it each time
	own    []Op       // x of the rows of each lane
	acc    []Register // their sums
	lanes  *lanes.Mask
	mask   OpmaskVirtual // the same with AVX-512
	at     []GPVirtual   // the first column of the block of each lane, where there are registers
	idx    Register      // where these are, for a moment where there are registers
	val    Register
	x, y   Register
	column GPVirtual // columns that are left of the slice
	t      GPVirtual
	// What gather fills part by part, which avo takes for alive all the time: so there is one
	// of each.
	pairs [2]VecVirtual
	one   VecVirtual
}

// blocks generates a kernel.
func blocks(l lanes.Lanes, size int) {
	name := fmt.Sprintf("symmetricBlocks%d%s", size, l.Suffix())
	l.Func(name, "func(n int, widths *uint32, masks *uint16, val *V, idx *int32, x, y *V, first int, alpha V)",
		"is MultiplySymmetricBlocks for the case in its name. y begins with",
		"element first.")
	k := &kernel{l: l, size: size, column: GP64(), t: GP64(), pairs: [2]VecVirtual{l.Reg(), l.Reg()}, one: l.Reg()}
	k.registers()
	if l.Count() <= 8 {
		for range l.Count() {
			k.at = append(k.at, GP64())
		}
	}
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	k.y = Load(Param("y"), GP64())
	if k.idx = k.t; k.at == nil {
		k.idx = GP64()
	}
	if k.alpha != nil {
		l.Broadcast(lanes.Arg("alpha"), k.alpha)
	}
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

// registers says where what lives longest is: with AVX-512 in registers that only its
// instructions know, so that the others stay free for Gather. With AVX2 there are too few
// for x of the rows of large blocks.
func (k *kernel) registers() {
	if k.l.Long {
		k.alpha, k.mask = k.l.Reg(), K()
		k.own = []Op{Z16, Z17, Z18, Z19, Z20, Z21}[:k.size]
		k.acc = []Register{Z22, Z23, Z24, Z25, Z26, Z27}[:k.size]
		return
	}
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
	if k.l.Long {
		KMOVW(Mem{Base: k.t}, k.mask)
	} else {
		k.lanes.Load(Mem{Base: k.t})
	}
	ADDQ(Imm(2), lanes.Arg("masks"))
	MOVQ(lanes.Arg("idx"), k.idx)
	ADDQ(Imm(uint64(4*k.l.Count())), lanes.Arg("idx"))
	k.columns()
}

// columns loads the columns at idx.
func (k *kernel) columns() {
	for lane, at := range k.at {
		MOVL(Mem{Base: k.idx, Disp: 4 * lane}, at.As32())
	}
}

// place is element j of a vector for the block of a lane.
func (k *kernel) place(vector Register, lane, j int) Mem {
	at := k.t
	if k.at == nil {
		MOVL(Mem{Base: k.idx, Disp: 4 * lane}, at.As32())
	} else {
		at = k.at[lane]
	}
	return Mem{Base: vector, Index: at, Scale: uint8(k.l.Size()), Disp: k.l.Size() * j}
}

// value is where row i and column j of the blocks lie.
func (k *kernel) value(i, j int) Mem {
	return Mem{Base: k.val, Disp: (j*k.size + i) * k.l.Bytes()}
}

// diagonal multiplies the blocks on the diagonal, with which the slice begins.
func (k *kernel) diagonal() {
	k.open()
	for j := 0; j < k.size; j += 2 {
		for c, x := range k.gather(j) {
			k.move(x, k.own[j+c])
		}
	}
	for i, acc := range k.acc {
		if k.l.Long {
			VPXORQ(acc, acc, acc)
			for j, own := range k.own {
				k.l.FMAMasked(k.value(i, j), own.(Register), k.mask, acc)
			}
		} else {
			k.l.Zero(acc.(VecVirtual))
		}
	}
	for j := 0; j < k.size && !k.l.Long; j++ {
		own := k.l.Reg()
		k.lanes.Keep(k.own[j], own)
		for i, acc := range k.acc {
			k.l.FMA(k.value(i, j), own, acc.(VecVirtual))
		}
	}
	ADDQ(U32(k.size*k.size*k.l.Bytes()), k.val)
}

// before multiplies blocks before the diagonal.
func (k *kernel) before() {
	k.open()
	for j := 0; j < k.size; j += 2 {
		var sums []Register
		for c, x := range k.gather(j) {
			sums = append(sums, k.product(j+c, x))
		}
		k.add(sums, j)
	}
	ADDQ(U32(k.size*k.size*k.l.Bytes()), k.val)
}

// product adds column j of the blocks to the sums of their rows, and gives its own sums.
// With AVX2 values that are not there are 0, and x is made 0.
func (k *kernel) product(j int, x VecVirtual) VecVirtual {
	sum := k.l.Reg()
	if !k.l.Long {
		k.lanes.Keep(x, x)
	}
	for i := range k.size {
		v := k.l.Reg()
		k.l.Load(k.value(i, j), v)
		switch {
		case k.l.Long:
			k.l.FMAMasked(v, x, k.mask, k.acc[i])
			if own := k.own[i].(Register); i > 0 {
				k.l.FMAMasked(v, own, k.mask, sum)
			} else {
				k.l.MulMasked(v, own, k.mask, sum)
			}
		default:
			k.l.FMA(v, x, k.acc[i].(VecVirtual))
			if i > 0 {
				k.l.FMA(k.own[i], v, sum)
			} else {
				k.l.Mul(k.own[i], v, sum)
			}
		}
	}
	if !k.l.Long {
		k.lanes.Keep(sum, sum)
	}
	return sum
}

// finish adds the sums of the rows to y.
func (k *kernel) finish() {
	MOVQ(lanes.Arg("widths"), k.t)
	MOVL(Mem{Base: k.t}, k.column.As32())
	// The columns of the blocks on the diagonal are the rows.
	IMUL3Q(U32(4*k.l.Count()), k.column, k.column)
	MOVQ(lanes.Arg("idx"), k.idx)
	SUBQ(k.column, k.idx)
	k.columns()
	for j := 0; j < k.size; j += 2 {
		k.add(k.acc[j:min(j+2, k.size)], j)
	}
}

// move is to = from.
func (k *kernel) move(from VecVirtual, to Op) {
	if m, ok := to.(Mem); ok {
		k.l.Store(from, m)
	} else {
		lanes.Pick(k.l, VMOVAPD, VMOVAPS)(from, to)
	}
}
