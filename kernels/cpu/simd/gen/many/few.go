package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// most is how many entries are added under masks.
const most = 3

// fewMasks has, from word most-n on, the masks of n entries, all lanes or none for each.
var fewMasks Mem

// defineMasks defines the masks, once in a file.
func defineMasks() {
	fewMasks = GLOBL("fewMasks", RODATA|NOPTR)
	for i := range 2 * most {
		mask := uint16(0xffff)
		if i >= most {
			mask = 0
		}
		DATA(2*i, U16(mask))
	}
}

// byFour adds the left entries of a row of one register four at a time, and then the last ones, three
// at most, under masks: no branch depends on their number, which processors can't predict where rows
// are short and differ. Those that the masks leave out are entries of the next rows. At the end of idx,
// where there are none, and where one of the three is out of range, the last ones are still left.
func (k *kernel) byFour(left GPVirtual) {
	SUBQ(Imm(4), left)
	JL(LabelRef("few"))
	Label("four")
	k.ask("four", 1, 4)
	for i := range 4 {
		k.entry(i)
	}
	ADDQ(Imm(4), k.k)
	SUBQ(Imm(4), left)
	JGE(LabelRef("four"))
	Label("few")
	t := GP64()
	LEAQ(Mem{Base: k.k, Disp: most}, t)
	CMPQ(t, k.end)
	JG(LabelRef("fewLeft"))
	k.ask("few", 1, most)
	at := func(i int) GPVirtual {
		g := GP64()
		MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, g.As32())
		return g
	}
	for i := range most {
		CMPQ(at(i), k.n)
		JAE(LabelRef("fewLeft"))
	}
	masks := GP64()
	LEAQ(fewMasks, masks)
	SHLQ(Imm(1), left)
	SUBQ(left, masks)
	for i := range most {
		g, f, m := at(i), k.Reg(), K()
		IMULQ(k.ldx, g)
		KMOVW(Mem{Base: masks, Disp: 2*i - 2}, m)
		KANDW(k.Mask(), m, m)
		k.Broadcast(Mem{Base: k.val, Index: k.k, Scale: uint8(k.Size()), Disp: k.Size() * i}, f)
		k.FMAMasked(Mem{Base: k.x, Index: g, Scale: 1}, f, m, k.sums[i%2][0])
	}
	SARQ(Imm(1), left)
	LEAQ(Mem{Base: k.k, Index: left, Scale: 1, Disp: 4}, k.k)
	JMP(LabelRef(label("finish", 1)))
	Label("fewLeft")
	ADDQ(Imm(4), left)
}
