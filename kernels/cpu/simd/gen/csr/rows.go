package main

import (
	"fmt"

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
	ptr, x, idx, val Register      // idx and val of entry 0, as ptr counts
	k                GPVirtual     // the next entry
	r, stop          GPVirtual     // the first row of the block, and the one behind it
	i                GPVirtual     // the next row to be summed
	asks             int           // how many times ask was called
	sums             GPVirtual     // where that of row 0 would be
	same             VecVirtual    // how many rows of the block are as long as the fourth before them
	loaded           [4]VecVirtual // what is loaded: the generator takes such registers to be in use throughout
	varied           Mem           // 1 where the lengths of the rows of a block are not foreseen
	before           VecVirtual    // the entries of each of the four rows that were surveyed last
}

// rows generates the kernel of Rows. It does a block of rows at a time: first their sums, by
// few or direct, then y, since a store to y holds up loads of x whose addresses are equal to
// it modulo 4 KiB.
//
// Elements of x are loaded one by one: on Zen 4 that is faster than the gather
// instruction, elsewhere about as fast. An index that is not below len(x), and a
// pointer that falls or leaves idx, end the call with the rows done before.
func rows(l lanes.Lanes) {
	l.Func("rows"+l.Suffix(), "func(alpha, beta V, ptr []int64, idx []int32, val, x, y, work []V, known, near bool) (done int)",
		"is Rows as far as indices and pointers are in range: it gives the",
		"number of rows done. work has rowsWork elements. known says that the processor foresees the",
		"lengths of rows, near that entries are in caches near by.")
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
	last := YMM()
	VPXOR(last, last, last)
	MOVQ(U32(0), k.varied)
	JMP(LabelRef("oneByOne"))
	Label("varied")
	k.lastIndex(last)
	MOVQ(U32(1), k.varied)
	Label("oneByOne")
	k.direct(last)
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
	k.same, k.before = YMM(), YMM()
	k.varied = AllocLocal(8)
	for i := range k.loaded {
		k.loaded[i] = YMM()
	}
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

// ask asks for values and indices behind an entry, unless all are in a cache near by.
func (k *rower) ask(at GPVirtual) {
	near := fmt.Sprintf("near%d", k.asks)
	k.asks++
	CMPB(lanes.Arg("near"), Imm(0))
	JNE(LabelRef(near))
	PREFETCHT0(k.value(at, ahead/k.Size()))
	PREFETCHT0(k.index(at, ahead/4))
	Label(near)
}

// index is where index i behind an entry lies, value where its value does.
func (k *rower) index(at GPVirtual, i int) Mem {
	return Mem{Base: k.idx, Index: at, Scale: 4, Disp: 4 * i}
}

func (k *rower) value(at GPVirtual, i int) Mem {
	return Mem{Base: k.val, Index: at, Scale: uint8(k.Size()), Disp: k.Size() * i}
}

// direct sums the rows of a block one by one: eight entries at a time, then four, two and one, or
// where rows are varied eight under a mask. What is out of range ends block and call.
func (k *rower) direct(last VecVirtual) {
	k.rewind()
	table := k.table()
	n, end := GP64(), k.end()
	Load(Param("x").Len(), n)
	left := GP64()
	place := func(i int) Mem {
		g := GP64()
		MOVL(k.index(k.k, i), g.As32())
		CMPQ(g, n)
		JAE(LabelRef("bad"))
		return Mem{Base: k.x, Index: g, Scale: uint8(k.Size())}
	}
	Label("row")
	CMPQ(k.i, k.stop)
	JGE(LabelRef("finish"))
	MOVQ(Mem{Base: k.ptr, Index: k.i, Scale: 8, Disp: 8}, left)
	CMPQ(left, end)
	JG(LabelRef("bad"))
	SUBQ(k.k, left)
	JL(LabelRef("bad"))
	acc := []VecVirtual{YMM(), YMM()}[:8/k.Count()]
	for _, a := range acc {
		VXORPS(a, a, a)
	}
	SUBQ(Imm(8), left)
	JL(LabelRef("tail"))
	Label("eight")
	k.ask(k.k)
	for i, v := range k.load8(place) {
		k.FMA(k.value(k.k, i*k.Count()), v, acc[i])
	}
	ADDQ(Imm(8), k.k)
	SUBQ(Imm(8), left)
	JGE(LabelRef("eight"))
	Label("tail")
	CMPQ(k.varied, Imm(0))
	JNE(LabelRef("masked"))
	Label("bits")
	sum := k.bits(left, acc, place)
	Label("store")
	k.MoveOne(sum, Mem{Base: k.sums, Index: k.i, Scale: uint8(k.Size())})
	INCQ(k.i)
	JMP(LabelRef("row"))

	Label("masked")
	k.masked(left, end, table, last, acc)
	JMP(LabelRef("store"))

	Label("bad")
	MOVQ(k.i, k.stop)
	Store(k.i, ReturnIndex(0))
}

// bits adds the up to seven entries that are left of a row, four, two and one, as the three lowest bits of left
// say. It gives their sum with those of eights in acc.
func (k *rower) bits(left GPVirtual, acc []VecVirtual, place func(i int) Mem) (sum VecVirtual) {
	if len(acc) > 1 {
		k.Add(acc[1], acc[0], acc[0])
	}
	sum = acc[0]
	for width, n := k.Count(), 4; n > 0; n /= 2 {
		for ; width > n; width /= 2 {
			sum = fold(k.Lanes, width, sum)
		}
		none := fmt.Sprintf("no%d", n)
		TESTL(U32(uint32(n)), left.As32()) // as eight were taken from it: that leaves these bits
		JZ(LabelRef(none))
		v, val := k.load(0, n, place), Op(k.value(k.k, 0))
		if n*k.Size() == 8 && !k.Double {
			pair := XMM()
			VMOVSD(k.value(k.k, 0), pair)
			val = pair
		}
		if n == 1 {
			k.FMAOne(val, v, sum)
		} else {
			k.FMA(val, v, sum)
		}
		ADDQ(Imm(uint64(n)), k.k)
		Label(none)
	}
	return sum
}

// masked adds the entries that are left of a row, of which left is eight less, to acc, and that up in acc[0], by
// masks of a table. It jumps to bits where none are left, or where one of eight indices is not there or above last.
func (k *rower) masked(left, end GPVirtual, table Register, last VecVirtual, acc []VecVirtual) {
	CMPQ(left, I8(-8))
	JE(LabelRef("bits"))
	t, least := GP64(), YMM()
	LEAQ(Mem{Base: k.k, Disp: 8}, t)
	CMPQ(t, end)
	JG(LabelRef("bits"))
	VMOVDQU(k.index(k.k, 0), least)
	VPMAXUD(last, least, least)
	VPCMPEQD(last, least, least)
	VPMOVMSKB(least, t.As32())
	CMPL(t.As32(), I32(-1))
	JNE(LabelRef("bits"))
	ADDQ(Imm(8), left)
	minus := left
	NEGQ(minus)
	for i, v := range k.load8(k.places(k.k)) {
		k.Mul(k.value(k.k, i*k.Count()), v, v)
		VANDPS(Mem{Base: table, Index: minus, Scale: uint8(k.Size()), Disp: 32 * i}, v, v)
		k.Add(v, acc[i], acc[i])
	}
	SUBQ(minus, k.k)
	if len(acc) > 1 {
		k.Add(acc[1], acc[0], acc[0])
	}
	reduce(k.Lanes, acc[0])
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

// places gives where x has the elements for the entries from one on. It loads two indices at a time.
func (k *rower) places(at GPVirtual) func(i int) Mem {
	var odd GPVirtual
	return func(i int) Mem {
		if i%2 == 1 {
			return Mem{Base: k.x, Index: odd, Scale: uint8(k.Size())}
		}
		even := GP64()
		odd = GP64()
		MOVQ(k.index(at, i), odd)
		MOVL(odd.As32(), even.As32())
		SHRQ(Imm(32), odd)
		return Mem{Base: k.x, Index: even, Scale: uint8(k.Size())}
	}
}

// load8 gives the elements at eight places, in two registers or one.
func (k *rower) load8(place func(i int) Mem) (v []VecVirtual) {
	for at := 0; at < 8; at += k.Count() {
		v = append(v, k.load(len(v), k.Count(), func(i int) Mem { return place(at + i) }))
	}
	return v
}

// load gives the elements at n places, two or four of which fill a register: that of a number.
func (k *rower) load(number, n int, place func(i int) Mem) VecVirtual {
	quarter := func(from int, v Register) {
		k.MoveOne(place(from), v)
		for i := 1; i < min(n, 16/k.Size()); i++ {
			if k.Double {
				VMOVHPD(place(from+i), v, v)
			} else {
				VINSERTPS(Imm(uint64(i<<4)), place(from+i), v, v)
			}
		}
	}
	v := k.loaded[number]
	quarter(0, v.AsX())
	if n < k.Count() {
		return v.AsX().(VecVirtual)
	}
	high := XMM()
	quarter(n/2, high)
	VINSERTF128(Imm(1), high, v, v)
	return v
}

// fold adds the upper half of the first elements of v, so many, to the lower one, which it gives.
func fold(l lanes.Lanes, width int, v VecVirtual) VecVirtual {
	low, high := v.AsX().(VecVirtual), XMM()
	switch width * l.Size() {
	case 32:
		VEXTRACTF128(Imm(1), v, high)
		l.Add(high, low, low)
	case 16:
		VUNPCKHPD(low, low, high)
		l.Add(high, low, low)
	case 8:
		VMOVSHDUP(low, high)
		l.AddOne(high, low, low)
	}
	return low
}

// reduce adds the elements of v up, in the lowest one of what it gives.
func reduce(l lanes.Lanes, v VecVirtual) VecVirtual {
	for width := l.Count(); width > 1; width /= 2 {
		v = fold(l, width, v)
	}
	return v
}
