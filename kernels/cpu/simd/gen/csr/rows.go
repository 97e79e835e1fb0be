package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

// ahead is how many bytes before their use values and indices are asked for: the
// processor's own prefetching stops at each page.
const ahead = 2048

// As in csr.go: the rows of a block, the products for each, on average, where they come first,
// and the elements before and behind these that may be written or read.
const (
	blockRows   = 32
	rowProducts = 16
	beside      = 16
)

// rower is the registers of a kernel of Rows.
type rower struct {
	lanes.Lanes
	ptr, x, idx, val Register   // idx and val of entry 0, as ptr counts
	k                GPVirtual  // the next entry
	r, stop          GPVirtual  // the first row of the block, and the one behind it
	i                GPVirtual  // the next row to be summed
	sums             GPVirtual  // where that of row 0 would be
	before           VecVirtual // the entries of each of the four rows that were surveyed last
}

// rows generates the kernel of Rows. It does a block of rows at a time: first their sums, by
// few or direct, then y, since a store to y holds up loads of x whose addresses are equal to
// it modulo 4 KiB.
//
// Elements of x are loaded one by one: on Zen 4 that is faster than the gather
// instruction, elsewhere about as fast. An index that is not below len(x), and a
// pointer that falls or leaves idx, end the call with the rows done before.
func rows(l lanes.Lanes) {
	l.Func("rows"+l.Suffix(), "func(alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V) (done int)",
		"is Rows as far as indices and pointers are in range: it gives the", "number of rows done. work has rowsWork elements.")
	k := begin(l)
	Label("block")
	MOVQ(lanes.Place(ReturnIndex(0)), k.stop)
	SUBQ(k.r, k.stop)
	JLE(LabelRef("out"))
	CMPQ(k.stop, Imm(blockRows))
	JLE(LabelRef("cut"))
	MOVQ(U32(blockRows), k.stop)
	Label("cut")
	CMPQ(k.stop, Imm(4))
	JL(LabelRef("rest"))
	ANDQ(I8(-4), k.stop)
	ADDQ(k.r, k.stop)
	k.few()
	Label("rest")
	ADDQ(k.r, k.stop)
	Label("direct")
	k.direct()
	Label("finish")
	k.finish()
	JMP(LabelRef("block"))
	Label("out")
	VZEROUPPER()
	RET()
}

// begin loads the arguments that have registers. All rows are to be done.
func begin(l lanes.Lanes) *rower {
	k := &rower{Lanes: l}
	k.ptr = Load(Param("ptr").Base(), GP64())
	k.x = Load(Param("x").Base(), GP64())
	k.k = GP64()
	MOVQ(Mem{Base: k.ptr}, k.k)
	k.idx, k.val = k.Entries(k.k)
	t := GP64()
	Load(Param("y").Len(), t)
	Store(t, ReturnIndex(0))
	k.r, k.stop, k.i, k.sums = GP64(), GP64(), GP64(), GP64()
	XORQ(k.r, k.r)
	k.before = YMM()
	VPXOR(k.before, k.before, k.before)
	return k
}

// rewind makes the first row of the block the next to be summed.
func (k *rower) rewind() {
	t := GP64()
	Load(Param("work").Base(), k.sums)
	k.scaled(k.r, t)
	SUBQ(t, k.sums)
	MOVQ(k.r, k.i)
}

// scaled is the bytes of so many elements.
func (k *rower) scaled(n, bytes GPVirtual) {
	MOVQ(n, bytes)
	if k.Double {
		SHLQ(Imm(3), bytes)
	} else {
		SHLQ(Imm(2), bytes)
	}
}

// end loads the entry behind the last one.
func (k *rower) end() GPVirtual {
	end := GP64()
	Load(Param("idx").Len(), end)
	ADDQ(Mem{Base: k.ptr}, end)
	return end
}

// index is where index i behind an entry lies, value where its value does.
func (k *rower) index(at GPVirtual, i int) Mem {
	return Mem{Base: k.idx, Index: at, Scale: 4, Disp: 4 * i}
}

func (k *rower) value(at GPVirtual, i int) Mem {
	return Mem{Base: k.val, Index: at, Scale: uint8(k.Size()), Disp: k.Size() * i}
}

// direct sums the rows of a block one by one: eight entries at a time, then single ones, with
// a single branch for the processor to guess wrong. What is out of range ends block and call.
func (k *rower) direct() {
	k.rewind()
	n, end := GP64(), k.end()
	Load(Param("x").Len(), n)
	left, sum := GP64(), XMM()
	index := func(i int) GPVirtual {
		g := GP64()
		MOVL(k.index(k.k, i), g.As32())
		CMPQ(g, n)
		JAE(LabelRef("bad"))
		return g
	}
	Label("row")
	CMPQ(k.i, k.stop)
	JGE(LabelRef("finish"))
	MOVQ(Mem{Base: k.ptr, Index: k.i, Scale: 8, Disp: 8}, left)
	CMPQ(left, end)
	JG(LabelRef("bad"))
	SUBQ(k.k, left)
	JL(LabelRef("bad"))
	VXORPS(sum, sum, sum)
	CMPQ(left, Imm(8))
	JL(LabelRef("tail"))

	acc := []VecVirtual{YMM(), YMM()}
	for _, a := range acc {
		VXORPS(a, a, a)
	}
	Label("eight")
	PREFETCHT0(k.value(k.k, ahead/k.Size()))
	PREFETCHT0(k.index(k.k, ahead/4))
	for i, v := range load8(k.Lanes, func(i int) Mem { return Mem{Base: k.x, Index: index(i), Scale: uint8(k.Size())} }) {
		k.FMA(k.value(k.k, i*32/k.Size()), v, acc[i])
	}
	ADDQ(Imm(8), k.k)
	SUBQ(Imm(8), left)
	CMPQ(left, Imm(8))
	JGE(LabelRef("eight"))
	k.Add(acc[1], acc[0], acc[0])
	reduce(k.Lanes, acc[0], sum)

	Label("tail")
	SUBQ(Imm(1), left)
	JL(LabelRef("summed"))
	Label("one")
	at := index(0)
	v := XMM()
	k.MoveOne(k.value(k.k, 0), v)
	k.FMAOne(Mem{Base: k.x, Index: at, Scale: uint8(k.Size())}, v, sum)
	INCQ(k.k)
	SUBQ(Imm(1), left)
	JGE(LabelRef("one"))
	Label("summed")
	k.MoveOne(sum, Mem{Base: k.sums, Index: k.i, Scale: uint8(k.Size())})
	INCQ(k.i)
	JMP(LabelRef("row"))

	Label("bad")
	MOVQ(k.i, k.stop)
	Store(k.i, ReturnIndex(0))
}

// finish writes the elements of y of a block, and goes on to the next.
func (k *rower) finish() {
	y, readsY := GP64(), GP64()
	Load(Param("y").Base(), y)
	if k.Double {
		MOVQ(lanes.Arg("beta"), readsY)
	} else {
		MOVL(lanes.Arg("beta"), readsY.As32())
		SHLQ(Imm(32), readsY)
	}
	ADDQ(readsY, readsY)
	alpha, beta, v := YMM(), YMM(), YMM()
	k.Broadcast(lanes.Arg("alpha"), alpha)
	k.Broadcast(lanes.Arg("beta"), beta)
	place := Mem{Base: y, Index: k.r, Scale: uint8(k.Size())}
	sum := Mem{Base: k.sums, Index: k.r, Scale: uint8(k.Size())}
	next, lanes := GP64(), 32/k.Size()
	Label("register")
	LEAQ(Mem{Base: k.r, Disp: lanes}, next)
	CMPQ(next, k.stop)
	JG(LabelRef("single"))
	k.Mul(sum, alpha, v)
	TESTQ(readsY, readsY)
	JZ(LabelRef("put"))
	k.FMA(place, beta, v)
	Label("put")
	VMOVUPS(v, place)
	MOVQ(next, k.r)
	JMP(LabelRef("register"))
	Label("single")
	CMPQ(k.r, k.stop)
	JGE(LabelRef("block"))
	k.MoveOne(sum, v.AsX())
	k.MulOne(alpha.AsX(), v.AsX(), v.AsX())
	TESTQ(readsY, readsY)
	JZ(LabelRef("putSingle"))
	k.FMAOne(place, beta.AsX(), v.AsX())
	Label("putSingle")
	k.MoveOne(v.AsX(), place)
	INCQ(k.r)
	JMP(LabelRef("single"))
}

// load8 gives the elements at eight places, in two registers or one.
func load8(l lanes.Lanes, place func(i int) Mem) (v []VecVirtual) {
	for at := 0; at < 8; at += l.Count() {
		v = append(v, l.GatherFrom(func(lane int) Mem { return place(at + lane) }))
	}
	return v
}

// reduce adds the elements of y up, in the lowest one of x.
func reduce(l lanes.Lanes, y, x VecVirtual) {
	VEXTRACTF128(Imm(1), y, x)
	l.Add(y.AsX(), x, x)
	h := XMM()
	if l.Double {
		VUNPCKHPD(x, x, h)
	} else {
		VMOVHLPS(x, x, h)
		l.Add(h, x, x)
		VMOVSHDUP(x, h)
	}
	l.AddOne(h, x, x)
}
