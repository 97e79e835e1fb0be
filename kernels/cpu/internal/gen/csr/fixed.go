package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

const (
	together = 4  // number of long rows that are summed together: additions of one row depend on each other
	short    = 16 // most entries of a short row
)

// fixed generates the kernel of RowSums. Short rows are summed one after the other: the processor
// begins the next row before the last additions of one are done. Long rows are summed four at a
// time, alternately one entry of each. When one of them ends, the next long row takes its place. At
// the end, the remaining entries of the four are added row by row.
//
// An index that is not less than len(x), or a pointer that decreases or leaves idx, ends the call.
func fixed(l lanes.Lanes) {
	name := "rowSums" + l.Suffix()
	l.Func(name, "func(ptr []int64, idx []int32, val, x, sums []V) bool",
		"computes RowSums:",
		"",
		"\tfor r := range sums {",
		"\t\tsums[r] = 0",
		"\t\tfor k := ptr[r] - ptr[0]; k < ptr[r+1]-ptr[0]; k++ {",
		"\t\t\tsums[r] = fma(val[k], x[idx[k]], sums[r])",
		"\t\t}",
		"\t}",
		"",
		"It returns false, with some of the sums done, if an index or a pointer is out of range.")

	k := beginFixed(l)
	Label("rows")
	for i := range k.open {
		k.refill(i)
	}
	k.interleave()
	JMP(LabelRef("rows"))
	k.finish()
	MOVB(Imm(1), lanes.Place(ReturnIndex(0)))
	RET()
	Label("out")
	MOVB(Imm(0), lanes.Place(ReturnIndex(0)))
	RET()
}

// summer has the arguments and the state of a kernel.
type summer struct {
	lanes.Lanes
	ptr, x, sums Register
	n            Register  // number of elements of x
	idx, val     Register  // entry k is at idx+4k and val+size*k, in the count of ptr
	first        GPVirtual // first entry of the next row
	end          Mem       // index after the last entry
	r            GPVirtual // next row
	next         GPVirtual // entry up to which values and indices are prefetched
	steps        Mem       // entries of each open row since its rest was updated
	open         [together]openRow
	sum          VecVirtual // sum of a short row
	t, g         GPVirtual
}

// openRow is one of the long rows that are summed together.
type openRow struct {
	acc  VecVirtual
	k    GPVirtual // next entry
	rest Mem       // number of entries left
	to   Mem       // address of its sum
}

// beginFixed loads the arguments. No row is open.
func beginFixed(l lanes.Lanes) *summer {
	k := &summer{Lanes: l}
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
	for i := range k.open {
		h := openRow{XMM(), GP64(), AllocLocal(8), AllocLocal(8)}
		MOVQ(U32(0), h.rest)
		MOVQ(k.t, h.to)
		XORQ(h.k, h.k)
		VXORPS(h.acc, h.acc, h.acc)
		k.open[i] = h
	}
	k.sum = XMM()
	return k
}

// add adds an entry to a sum and increments entry.
func (k *summer) add(entry GPVirtual, acc VecVirtual) {
	v := XMM()
	MOVL(Mem{Base: k.idx, Index: entry, Scale: 4}, k.t.As32())
	CMPQ(k.t, k.n)
	JAE(LabelRef("out"))
	k.MoveOne(Mem{Base: k.val, Index: entry, Scale: uint8(k.Size())}, v)
	k.FMAOne(Mem{Base: k.x, Index: k.t, Scale: uint8(k.Size())}, v, acc)
	INCQ(entry)
}

// prefetch prefetches values and indices after an entry.
func (k *summer) prefetch(entry GPVirtual) {
	PREFETCHT0(Mem{Base: k.val, Index: entry, Scale: uint8(k.Size()), Disp: ahead})
	PREFETCHT0(Mem{Base: k.idx, Index: entry, Scale: 4, Disp: ahead})
}

// store stores the sum of an open row.
func (k *summer) store(h openRow) {
	MOVQ(h.to, k.t)
	k.MoveOne(h.acc, Mem{Base: k.t})
}

// refill stores open row i if it has ended, and replaces it by the next long row. It sums the short
// rows before that one.
func (k *summer) refill(i int) {
	h := k.open[i]
	label := func(name string) string { return fmt.Sprint(name, i) }
	to := Mem{Base: k.sums, Index: k.r, Scale: uint8(k.Size()), Disp: -k.Size()} // sum of row r-1
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
	JAE(LabelRef(label("other"))) // no entries, long, or negative
	k.prefetch(k.first)
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

// interleave adds entries of all open rows, alternately one of each, until one of the rows ends.
func (k *summer) interleave() {
	MOVQ(k.open[0].rest, k.g)
	for _, h := range k.open[1:] {
		CMPQ(k.g, h.rest)
		CMOVQGT(h.rest, k.g)
	}
	MOVQ(k.g, k.steps)
	Label("interleave")
	k.prefetch(k.next)
	ADDQ(Imm(together), k.next)
	for _, h := range k.open {
		k.add(h.k, h.acc)
	}
	DECQ(k.g)
	JNZ(LabelRef("interleave"))
	CMPQ(k.next, k.first)
	CMOVQLT(k.first, k.next)
}

// finish adds the remaining entries of the open rows when there is no row to replace row i. The
// rest of the rows after i is not updated yet.
func (k *summer) finish() {
	for i := range together - 1 {
		Label(fmt.Sprint("end", i))
		MOVQ(k.steps, k.g)
		SUBQ(k.g, k.open[i+1].rest)
	}
	Label(fmt.Sprint("end", together-1))
	for i, h := range k.open {
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
