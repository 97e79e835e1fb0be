// Command blocks generates the kernels of dense blocks: one block row per lane. multiply and multiply57 are for one vector,
// multiplyMany for several.
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
	lanes.DefineSpread()
	lanes.DefineCounts()
	for _, l := range lanes.All() {
		for height := least; height <= most; height++ {
			multiply(l, lanes.Full, height)
			if l.Double {
				multiply(l, lanes.Short, height)
			}
		}
	}
	multiply57()
	for _, l := range lanes.All() {
		transposed(l, lanes.Full)
		if l.Double {
			transposed(l, lanes.Short)
		}
		if l.Double && l.Long {
			transposed(l, lanes.Bits57)
		}
	}
	for _, l := range lanes.All() {
		for height := least; height <= most; height++ {
			multiplyMany(lanes.Part{Lanes: l}, height)
		}
	}
	lanes.WriteFiles()
}

// The numbers of rows of a block.
const least, most = 2, 8

const fields = "n int, widths *uint32, masks *uint16, val *byte, idx *int32, columns int, x, table, sums *V, height, bytes, ahead int"

// aheadBytes is the number of bytes by which values are prefetched; see prefetchesBlocks in package
// simd.
const aheadBytes = 8192

// kernel has the registers of a kernel.
type kernel struct {
	lanes.Lanes
	height         int // rows of a block
	bytes          int // bytes of one value per lane
	column         func(at Mem) Op
	val            Register
	mask           *lanes.Mask
	acc            []VecVirtual // for each row of a block
	left, j, xj, t GPVirtual
}

// multiply generates the kernel for blocks of height rows and any number of columns.
func multiply(l lanes.Lanes, values lanes.Values, height int) {
	name := fmt.Sprintf("blocks%s%d%s", values.Name, height, l.Suffix())
	l.FuncOf(name, "blockArgs[V]", fields, "is for the storage, the height and the type in its name; see blockArgs. height and bytes are not used.")
	k := begin(l, values, height)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for _, a := range k.acc {
		l.Zero(a)
	}
	lanes.EachColumn(k.widths, k.left, "store", func() { k.product("fullColumn", l.FMA) }, func() {
		MOVQ(lanes.Arg("masks"), k.t)
		k.mask.Load(Mem{Base: k.t})
		k.product("maskedColumn", k.mask.FMA)
		ADDQ(Imm(2), lanes.Arg("masks"))
	})
	Label("store")
	MOVQ(lanes.Arg("sums"), k.t)
	for i, a := range k.acc {
		l.Store(a, Mem{Base: k.t, Disp: i * l.Bytes()})
	}
	ADDQ(U32(height*l.Bytes()), lanes.Arg("sums"))
	ADDQ(Imm(8), lanes.Arg("widths"))
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// begin loads the arguments that have registers.
func begin(l lanes.Lanes, values lanes.Values, height int) *kernel {
	k := &kernel{Lanes: l, height: height, bytes: values.Bytes(l)}
	k.val = Load(Param("val"), GP64())
	k.column = values.Begin(l, Load(Param("table"), GP64()))
	k.mask = l.NewMask()
	for range height {
		k.acc = append(k.acc, l.Reg())
	}
	k.left, k.j, k.xj, k.t = GP64(), GP64(), GP64(), GP64()
	return k
}

// widths loads an argument that has no register.
func (k *kernel) widths() Register {
	MOVQ(lanes.Arg("widths"), k.t)
	return k.t
}

// product adds one block of each lane.
func (k *kernel) product(name string, fma func(a Op, b, acc VecVirtual)) {
	MOVQ(lanes.Arg("idx"), k.t)
	gather := k.gather()
	MOVQ(lanes.Arg("x"), k.xj)
	MOVQ(lanes.Arg("columns"), k.j)
	Label(name)
	k.prefetch(name)
	b := gather()
	for i, a := range k.acc {
		fma(k.column(Mem{Base: k.val, Disp: i * k.bytes}), b, a)
	}
	ADDQ(U32(k.height*k.bytes), k.val)
	ADDQ(Imm(uint64(k.Size())), k.xj)
	DECQ(k.j)
	JNZ(LabelRef(name))
	ADDQ(Imm(uint64(4*k.Count())), lanes.Arg("idx"))
}

// prefetch prefetches the column of blocks that is aheadBytes later, if the argument ahead is not
// 0.
func (k *kernel) prefetch(name string) {
	CMPQ(lanes.Arg("ahead"), Imm(0))
	JEQ(LabelRef(name + "Prefetched"))
	for line := 0; line < k.height*k.bytes; line += 64 {
		PREFETCHT0(Mem{Base: k.val, Disp: aheadBytes + line})
	}
	Label(name + "Prefetched")
}

// gather returns a function that loads x for a column of the blocks with the indices at t. If the
// registers suffice, the indices are loaded once.
func (k *kernel) gather() func() VecVirtual {
	load := func(lane int, to GPVirtual) { MOVL(Mem{Base: k.t, Disp: 4 * lane}, to.As32()) }
	if k.Count() > 8 {
		return func() VecVirtual { return k.Gather(k.xj, load) }
	}
	index := make([]GPVirtual, k.Count())
	for lane := range index {
		index[lane] = GP64()
		load(lane, index[lane])
	}
	return func() VecVirtual {
		return k.GatherFrom(func(lane int) Mem { return Mem{Base: k.xj, Index: index[lane], Scale: uint8(k.Size())} })
	}
}
