package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// most is how many entries are added under masks.
const most = 3

// fewMasks has, from word most-n on, the masks of n entries, all lanes or none for each; fewLanes has
// the same in registers of 256 bits.
var fewMasks, fewLanes Mem

// defineMasks defines the masks, once in a file.
func defineMasks() {
	fewMasks = GLOBL("fewMasks", RODATA|NOPTR)
	for i := range 2 * most {
		DATA(2*i, U16(uint16(ones(i < most))))
	}
	fewLanes = GLOBL("fewLanes", RODATA|NOPTR)
	for i := range 8 * most {
		DATA(8*i, U64(ones(i < 4*most)))
	}
}

// ones is a word of ones, or else of zeros.
func ones(are bool) uint64 {
	if are {
		return math.MaxUint64
	}
	return 0
}

// byFour adds the left entries of a row of v registers four at a time, and then the last ones, three
// at most, under masks: no branch depends on their number, which processors can't predict where rows
// are short and differ. Those that the masks leave out are entries of the next rows. At the end of idx,
// where there are none, and where one of the three is out of range, the last ones are still left.
func (k *kernel) byFour(left GPVirtual, v int) {
	SUBQ(Imm(4), left)
	JL(LabelRef(label("few", v)))
	Label(label("four", v))
	k.ask("four", v, 4)
	for i := range 4 {
		k.entry(i)
	}
	ADDQ(Imm(4), k.k)
	SUBQ(Imm(4), left)
	JGE(LabelRef(label("four", v)))
	Label(label("few", v))
	t := GP64()
	LEAQ(Mem{Base: k.k, Disp: most}, t)
	CMPQ(t, k.end)
	JG(LabelRef(label("fewLeft", v)))
	k.ask("few", v, most)
	at := func(i int) GPVirtual {
		g := GP64()
		MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, g.As32())
		return g
	}
	for i := range most {
		CMPQ(at(i), k.n)
		JAE(LabelRef(label("fewLeft", v)))
	}
	masks, shift := GP64(), 1 // of the bytes of a mask
	if k.Opmasks() {
		LEAQ(fewMasks, masks)
	} else {
		LEAQ(fewLanes, masks)
		shift = 5
	}
	SHLQ(Imm(uint64(shift)), left)
	SUBQ(left, masks)
	for i := range most {
		g, f := at(i), k.Reg()
		IMULQ(k.ldx, g)
		k.Broadcast(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: k.Size() * i}, f)
		k.maskedEntry(i, g, f, Mem{Base: masks, Disp: (i - 1) << shift})
	}
	SARQ(Imm(uint64(shift)), left)
	LEAQ(Mem{Base: k.k, Index: left, Scale: 1, Disp: 4}, k.k)
	JMP(LabelRef(label("finish", v)))
	Label(label("fewLeft", v))
	ADDQ(Imm(4), left)
}

// maskedEntry adds the product of the row of x at g and f to the sums of entry i where the mask has
// all lanes, and where it has none zeros: the row and f may be no numbers then.
func (k *kernel) maskedEntry(i int, g GPVirtual, f VecVirtual, mask Mem) {
	if k.Opmasks() {
		m := K()
		KMOVW(mask, m)
		KANDW(k.Mask(), m, m)
		k.FMAMasked(Mem{Base: k.x, Index: g, Scale: 1}, f, m, k.sums[i%2][0])
		return
	}
	m, x := k.Reg(), k.Reg()
	VMOVUPS(mask, m)
	VANDPS(m, f, f)
	for j, a := range k.sums[i%2] {
		if j == len(k.sums[0])-1 {
			VANDPS(k.Mask(), m, m)
		}
		k.LoadMasked(Mem{Base: k.x, Index: g, Scale: 1, Disp: j * k.Bytes()}, m, x)
		k.FMA(x, f, a)
	}
}
