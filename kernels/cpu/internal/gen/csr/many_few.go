package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// mostUnder is the number of entries that are added under masks.
const mostUnder = 3

// fewMasks has the masks of n entries from word mostUnder-n on, all or no lanes for each entry; fewLanes
// has the same in registers of 256 bits.
var fewMasks, fewLanes Mem

// defineManyMasks defines the masks, once per file.
func defineManyMasks() {
	fewMasks = GLOBL("fewMasks", RODATA|NOPTR)
	for i := range 2 * mostUnder {
		DATA(2*i, U16(uint16(ones(i < mostUnder))))
	}
	fewLanes = GLOBL("fewLanes", RODATA|NOPTR)
	for i := range 8 * mostUnder {
		DATA(8*i, U64(ones(i < 4*mostUnder)))
	}
}

// ones returns all ones if are is true, and 0 otherwise.
func ones(are bool) uint64 {
	if are {
		return math.MaxUint64
	}
	return 0
}

// underMasks adds the last left+4 entries of a row under masks, without a branch on their number,
// which is unpredictable if there are many different rows. The masks clear entries of the next
// rows. At the end of idx, and if one of the three entries is out of range, it does nothing.
func (k *manyRower) underMasks(left GPVirtual, v int) {
	t := GP64()
	LEAQ(Mem{Base: k.k, Disp: mostUnder}, t)
	CMPQ(t, k.end)
	JG(LabelRef(label("fewLeft", v)))
	CMPB(k.kept["near"], Imm(0))
	JNE(LabelRef(label("fewprefetched", v)))
	k.prefetch("few", v, mostUnder)
	at := func(i int) GPVirtual {
		g := GP64()
		MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, g.As32())
		return g
	}
	for i := range mostUnder {
		CMPQ(at(i), k.n)
		JAE(LabelRef(label("fewLeft", v)))
	}
	masks, shift := GP64(), 1 // log2 of the bytes of a mask
	if k.Opmasks() {
		LEAQ(fewMasks, masks)
	} else {
		LEAQ(fewLanes, masks)
		shift = 5
	}
	SHLQ(Imm(uint64(shift)), left)
	SUBQ(left, masks)
	for i := range mostUnder {
		g, f := at(i), k.Reg()
		IMULQ(k.ldx, g)
		k.Broadcast(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: k.Size() * i}, f)
		k.maskedEntry(i, g, f, Mem{Base: masks, Disp: (i - 1) << shift})
	}
	SARQ(Imm(uint64(shift)), left)
	LEAQ(Mem{Base: k.k, Index: left, Scale: 1, Disp: 4}, k.k)
	JMP(LabelRef(label("finish", v)))
}

// maskedEntry adds the product of f and the row of x at g to sums i if the mask has all lanes, and
// zeros if it has none: f and the row may be NaN then.
func (k *manyRower) maskedEntry(i int, g GPVirtual, f VecVirtual, mask Mem) {
	if k.Opmasks() {
		m := K()
		KMOVW(mask, m)
		KANDW(k.Mask(), m, m)
		k.FMAMasked(Mem{Base: k.x, Index: g, Scale: 1}, f, m, k.sums[i][0])
		return
	}
	m, x := k.Reg(), k.Reg()
	VMOVUPS(mask, m)
	VANDPS(m, f, f)
	for j, a := range k.sums[i] {
		if j == len(k.sums[0])-1 {
			VANDPS(k.Mask(), m, m)
		}
		k.LoadMasked(Mem{Base: k.x, Index: g, Scale: 1, Disp: j * k.Bytes()}, m, x)
		k.FMA(x, f, a)
	}
}
