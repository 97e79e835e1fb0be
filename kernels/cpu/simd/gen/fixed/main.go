// Command fixed generates the sums of rows of which each is added up in order.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	rows(lanes.Lanes{Double: true})
	rows(lanes.Lanes{})
	Generate()
}

const (
	together = 4  // long rows in hand: in each, an addition waits for the one before
	short    = 16 // entries of a row that is none of them
	// ahead is how many bytes before their use values and indices are asked for: the
	// processor's own prefetching stops at each page.
	ahead = 2048
)

// rows generates the kernel of RowSums. Short rows are added up one after the other:
// the processor is on to the next before the last additions of one are done. Of long
// rows four are in hand at a time, one entry of each in turn: as soon as one of them
// ends, the next takes its place. At the end of all rows, what is left of those in
// hand is added row by row.
//
// An index that is not below len(x), and a pointer that falls or leaves idx, end the
// call.
func rows(l lanes.Lanes) {
	name := "rowSums" + l.Suffix()
	l.Func(name, "func(ptr []int64, idx []int32, val, x, sums []V) bool",
		"is RowSums as long as indices and pointers are in range: else it is", "false, with some of the sums done.")

	k := begin(l)
	Label("rows")
	for i := range k.hands {
		k.renew(i)
	}
	k.side()
	JMP(LabelRef("rows"))
	k.finish()
	MOVB(Imm(1), lanes.Place(ReturnIndex(0)))
	RET()
	Label("out")
	MOVB(Imm(0), lanes.Place(ReturnIndex(0)))
	RET()
}

// kernel is where the arguments and the state of a kernel are.
type kernel struct {
	lanes.Lanes
	ptr, x, sums Register
	n            Register  // elements of x
	idx, val     Register  // entry k lies at idx+4k and val+size*k, k as ptr counts
	first        GPVirtual // entry of the next row
	end          Mem       // behind the last entry
	r            GPVirtual // the next row
	next         GPVirtual // entry for which values and indices are asked for ahead
	steps        Mem       // that the rows in hand have made since their rest was counted
	hands        [together]hand
	sum          VecVirtual // of a short row
	t, g         GPVirtual
}

// hand is a row in hand.
type hand struct {
	acc  VecVirtual
	k    GPVirtual // its next entry
	rest Mem       // the number of those that are left
	to   Mem       // where its sum goes
}

// begin loads the arguments, with nothing in hand.
func begin(l lanes.Lanes) *kernel {
	k := &kernel{Lanes: l}
	k.ptr = Load(Param("ptr").Base(), GP64())
	k.x = Load(Param("x").Base(), GP64())
	k.n = Load(Param("x").Len(), GP64())
	k.sums = Load(Param("sums").Base(), GP64())
	k.idx = Load(Param("idx").Base(), GP64())
	k.val = Load(Param("val").Base(), GP64())
	k.first, k.t, k.g = GP64(), GP64(), GP64()
	MOVQ(Mem{Base: k.ptr}, k.first)
	MOVQ(k.first, k.t)
	SHLQ(Imm(2), k.t)
	SUBQ(k.t, k.idx)
	if l.Double {
		SHLQ(Imm(1), k.t)
	}
	SUBQ(k.t, k.val)
	k.end = AllocLocal(8)
	MOVQ(lanes.Place(Param("idx").Len()), k.t)
	ADDQ(k.first, k.t)
	MOVQ(k.t, k.end)
	k.r, k.next = GP64(), GP64()
	XORQ(k.r, k.r)
	MOVQ(k.first, k.next)
	k.steps = AllocLocal(8)
	MOVQ(U32(0), k.steps)
	nowhere := AllocLocal(8)
	LEAQ(nowhere, k.t)
	for i := range k.hands {
		h := hand{XMM(), GP64(), AllocLocal(8), AllocLocal(8)}
		MOVQ(U32(0), h.rest)
		MOVQ(k.t, h.to)
		XORQ(h.k, h.k)
		VXORPS(h.acc, h.acc, h.acc)
		k.hands[i] = h
	}
	k.sum = XMM()
	return k
}

// add adds an entry to a sum and goes on.
func (k *kernel) add(entry GPVirtual, acc VecVirtual) {
	v := XMM()
	MOVL(Mem{Base: k.idx, Index: entry, Scale: 4}, k.t.As32())
	CMPQ(k.t, k.n)
	JAE(LabelRef("out"))
	k.MoveOne(Mem{Base: k.val, Index: entry, Scale: uint8(k.Size())}, v)
	k.FMAOne(Mem{Base: k.x, Index: k.t, Scale: uint8(k.Size())}, v, acc)
	INCQ(entry)
}

// ask asks for what comes behind an entry.
func (k *kernel) ask(entry GPVirtual) {
	PREFETCHT0(Mem{Base: k.val, Index: entry, Scale: uint8(k.Size()), Disp: ahead})
	PREFETCHT0(Mem{Base: k.idx, Index: entry, Scale: 4, Disp: ahead})
}

// store puts the sum of a row in hand where it goes.
func (k *kernel) store(h hand) {
	MOVQ(h.to, k.t)
	k.MoveOne(h.acc, Mem{Base: k.t})
}

// renew stores row i in hand if it has ended, and takes the next long row in its place;
// the short ones before that are summed on the way.
func (k *kernel) renew(i int) {
	h := k.hands[i]
	label := func(name string) string { return fmt.Sprint(name, i) }
	to := Mem{Base: k.sums, Index: k.r, Scale: uint8(k.Size()), Disp: -k.Size()} // of the row before r
	MOVQ(k.steps, k.g)
	SUBQ(k.g, h.rest)
	JNZ(LabelRef(label("goes")))
	k.store(h)
	Label(label("more"))
	CMPQ(k.r, lanes.Place(Param("sums").Len()))
	JGE(LabelRef(label("end")))
	INCQ(k.r)
	MOVQ(Mem{Base: k.ptr, Index: k.r, Scale: 8}, k.g)
	CMPQ(k.g, k.end)
	JG(LabelRef("out"))
	VXORPS(k.sum, k.sum, k.sum)
	MOVQ(k.g, k.t)
	SUBQ(k.first, k.t)
	DECQ(k.t)
	CMPQ(k.t, Imm(short))
	JAE(LabelRef(label("other"))) // none, long, or below 0
	k.ask(k.first)
	Label(label("short"))
	k.add(k.first, k.sum)
	CMPQ(k.first, k.g)
	JL(LabelRef(label("short")))
	k.MoveOne(k.sum, to)
	JMP(LabelRef(label("more")))
	Label(label("other"))
	INCQ(k.t)
	JL(LabelRef("out"))
	MOVQ(k.first, h.k)
	MOVQ(k.g, k.first)
	k.MoveOne(k.sum, to)
	JZ(LabelRef(label("more")))
	MOVQ(k.t, h.rest)
	LEAQ(to, k.t)
	MOVQ(k.t, h.to)
	VXORPS(h.acc, h.acc, h.acc)
	Label(label("goes"))
}

// side adds entries of all rows in hand, one of each in turn, until one of them ends.
func (k *kernel) side() {
	MOVQ(k.hands[0].rest, k.g)
	for _, h := range k.hands[1:] {
		CMPQ(k.g, h.rest)
		CMOVQGT(h.rest, k.g)
	}
	MOVQ(k.g, k.steps)
	Label("side")
	k.ask(k.next)
	ADDQ(Imm(together), k.next)
	for _, h := range k.hands {
		k.add(h.k, h.acc)
	}
	DECQ(k.g)
	JNZ(LabelRef("side"))
	CMPQ(k.next, k.first)
	CMOVQLT(k.first, k.next)
}

// finish adds what is left of the rows in hand, when no row is left to take the place
// of row i: those behind it have made steps that are not yet counted.
func (k *kernel) finish() {
	for i := range together - 1 {
		Label(fmt.Sprint("end", i))
		MOVQ(k.steps, k.g)
		SUBQ(k.g, k.hands[i+1].rest)
	}
	Label(fmt.Sprint("end", together-1))
	for i, h := range k.hands {
		again, done := fmt.Sprint("again", i), fmt.Sprint("done", i)
		MOVQ(h.rest, k.g)
		TESTQ(k.g, k.g)
		JZ(LabelRef(done))
		Label(again)
		k.add(h.k, h.acc)
		DECQ(k.g)
		JNZ(LabelRef(again))
		Label(done)
		k.store(h)
	}
}
