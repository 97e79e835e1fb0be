package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// ahead is the number of bytes by which values and indices are prefetched, because the hardware
// prefetcher stops at each page.
const ahead = 2048

// As in csr.go: the rows of a block, the average number of products per row for which few is used,
// and the elements before and after these that may be written or read.
const (
	blockRows   = 32
	rowProducts = 16
	beside      = 16
)

// rower has the registers of a kernel of Rows.
type rower struct {
	lanes.Lanes
	ptr, x, idx, val Register      // idx and val of entry 0, in the count of ptr
	k                GPVirtual     // next entry
	r, stop          GPVirtual     // first row of the block, and the row after it
	i                GPVirtual     // next row to sum
	prefetches       int           // number of calls of prefetch
	sums             GPVirtual     // address of the sum of row 0
	same             VecVirtual    // number of rows of the block that are as long as the fourth row before
	loaded           [4]VecVirtual // loads: avo keeps registers that are loaded in parts alive throughout
	near             Mem           // the argument near
	varied           Mem           // 1 if the lengths of the rows of a block are not predicted
	before           VecVirtual    // numbers of entries of the last four rows that survey read
}

// rows generates the kernel of Rows. It processes a block of rows at a time: first their sums, by
// few or direct, then y, because a store to y delays loads of x from addresses that are equal to it
// modulo 4 KiB.
//
// Elements of x are loaded one by one: on Zen 4 this is faster than the gather instruction,
// elsewhere about as fast. An index that is not less than len(x), or a pointer that decreases or
// leaves idx, ends the call after the rows before it.
func rows(l lanes.Lanes) {
	l.Func("rows"+l.Suffix(), "func(a *rowsArgs[V])",
		"computes Rows, and sets a.rows to the number of rows before the first one with an index or a pointer out of range:",
		"",
		"\tfor r := range a.rows {",
		"\t\tsum := V(0)",
		"\t\tfor k := a.ptr[r] - a.ptr[0]; k < a.ptr[r+1]-a.ptr[0]; k++ {",
		"\t\t\tsum += a.val[k] * a.x[a.idx[k]]",
		"\t\t}",
		"\t\ta.y[r] = a.alpha*sum + a.beta*a.y[r]",
		"\t}")
	k := begin(l)
	Label("block")
	MOVQ(lanes.Arg("rows"), k.stop)
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

// begin loads the arguments that have registers.
func begin(l lanes.Lanes) *rower {
	k := &rower{Lanes: l}
	a := lanes.Args("ptr", "idx", "entries", "val", "x", "cols", "y", "rows", "work", "predicted", "near", "alpha", "beta")
	k.ptr, k.x = a.Load("ptr"), a.Load("x")
	k.k = GP64()
	MOVQ(Mem{Base: k.ptr}, k.k)
	k.idx, k.val = k.Entries(a, k.k)
	k.near = keep(a, "near")
	a.Release()
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

// rewind makes the first row of the block the next row to sum.
func (k *rower) rewind() {
	t := GP64()
	MOVQ(lanes.Arg("work"), k.sums)
	k.scaled(k.r, t)
	SUBQ(t, k.sums)
	MOVQ(k.r, k.i)
}

// scaled sets bytes to the bytes of n elements.
func (k *rower) scaled(n, bytes GPVirtual) {
	MOVQ(n, bytes)
	if k.Double {
		SHLQ(Imm(3), bytes)
	} else {
		SHLQ(Imm(2), bytes)
	}
}

// end loads the index after the last entry.
func (k *rower) end() GPVirtual {
	end := GP64()
	MOVQ(lanes.Arg("entries"), end)
	ADDQ(Mem{Base: k.ptr}, end)
	return end
}

// prefetch prefetches values and indices after an entry, unless the argument near is set.
func (k *rower) prefetch(at GPVirtual) {
	near := fmt.Sprintf("near%d", k.prefetches)
	k.prefetches++
	CMPB(k.near, Imm(0))
	JNE(LabelRef(near))
	PREFETCHT0(k.value(at, ahead/k.Size()))
	PREFETCHT0(k.index(at, ahead/4))
	Label(near)
}

// index returns the memory of index at+i, value that of its value.
func (k *rower) index(at GPVirtual, i int) Mem {
	return Mem{Base: k.idx, Index: at, Scale: 4, Disp: 4 * i}
}

func (k *rower) value(at GPVirtual, i int) Mem {
	return Mem{Base: k.val, Index: at, Scale: uint8(k.Size()), Disp: k.Size() * i}
}

// direct sums the rows of a block one by one: eight entries at a time, then four, two and one; if
// lengths are varied, then eight under a mask. If something is out of range, it ends the block and
// the call.
func (k *rower) direct(last VecVirtual) {
	k.rewind()
	table := k.table()
	n, end := GP64(), k.end()
	MOVQ(lanes.Arg("cols"), n)
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
	k.prefetch(k.k)
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
	MOVQ(k.i, lanes.Arg("rows"))
}

// bits adds the up to seven last entries of a row, four, two and one, according to the three lowest
// bits of left. It returns their sum with acc.
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
		TESTL(U32(uint32(n)), left.As32()) // eight were subtracted, which leaves these bits
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

// masked adds the last entries of a row, left+8 of them, to acc, and sums acc in acc[0]. Masks come
// from a table. It jumps to bits if there are none, or if one of eight indices does not exist or is
// greater than last.
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

// finish writes the elements of y of a block and jumps to the next block.
func (k *rower) finish() {
	y, readsY := GP64(), GP64()
	MOVQ(lanes.Arg("y"), y)
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

// places returns the elements of x of the entries from at on. It loads two indices at a time.
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

// load8 returns the elements at eight places, in two registers or one.
func (k *rower) load8(place func(i int) Mem) (v []VecVirtual) {
	for at := 0; at < 8; at += k.Count() {
		v = append(v, k.load(len(v), k.Count(), func(i int) Mem { return place(at + i) }))
	}
	return v
}

// load returns the elements at n places, in the register with the given number. Two or four
// elements fill a register.
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

// fold adds the upper half of the first width elements of v to the lower half, and returns it.
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

// reduce returns the sum of the elements of v, as the lowest element.
func reduce(l lanes.Lanes, v VecVirtual) VecVirtual {
	for width := l.Count(); width > 1; width /= 2 {
		v = fold(l, width, v)
	}
	return v
}
