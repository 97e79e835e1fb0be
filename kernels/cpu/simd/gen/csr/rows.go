package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// ahead is how many bytes before their use values and indices are asked for: the
// processor's own prefetching stops at each page.
const ahead = 2048

// rower is the registers of a kernel of Rows.
type rower struct {
	elem
	ptr, x, n   Register  // n is len(x)
	idx, val    Register  // of entry 0, as ptr counts
	k, end, r   GPVirtual // entry and its end, and row
	alpha, beta VecVirtual
	readsY      GPVirtual // 0 where beta is 0 or -0
	left        GPVirtual // entries of the row
	sum         VecVirtual
}

// rows generates the kernel of Rows: eight entries at a time, then one by one.
//
// Elements of x are loaded one by one: on Zen 4 that is faster than the gather
// instruction, elsewhere about as fast. An index that is not below len(x), and a
// pointer that falls or leaves idx, end the call with the rows done before.
func rows(name, typ string, e elem) {
	TEXT(name+"AVX2", NOSPLIT, fmt.Sprintf("func(alpha, beta %[1]s, ptr []int64, idx []int32, val, x, y []%[1]s) (done int)", typ))
	Pragma("noescape")
	Doc(name+"AVX2 is Rows as far as indices and pointers are in range: it gives the", "number of rows done.")
	k := begin(e)

	Label("row")
	CMPQ(k.r, addr(Param("y").Len()))
	JGE(LabelRef("out"))
	MOVQ(Mem{Base: k.ptr, Index: k.r, Scale: 8, Disp: 8}, k.left)
	CMPQ(k.left, k.end)
	JG(LabelRef("out"))
	SUBQ(k.k, k.left)
	JL(LabelRef("out"))
	VXORPS(k.sum, k.sum, k.sum)
	CMPQ(k.left, Imm(8))
	JL(LabelRef("rest"))
	k.eights()
	Label("rest")
	k.ones()
	Label("finish")
	k.finish()
	INCQ(k.r)
	JMP(LabelRef("row"))
	Label("out")
	Store(k.r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// begin loads the arguments that have registers.
func begin(e elem) *rower {
	k := &rower{elem: e}
	k.ptr = Load(Param("ptr").Base(), GP64())
	k.x = Load(Param("x").Base(), GP64())
	k.n = Load(Param("x").Len(), GP64())
	k.k = GP64()
	MOVQ(Mem{Base: k.ptr}, k.k)
	k.idx = Load(Param("idx").Base(), GP64())
	k.val = Load(Param("val").Base(), GP64())
	t := GP64()
	MOVQ(k.k, t)
	SHLQ(Imm(2), t)
	SUBQ(t, k.idx)
	if e.size() == 8 {
		SHLQ(Imm(1), t)
	}
	SUBQ(t, k.val)
	k.end = GP64()
	Load(Param("idx").Len(), k.end)
	ADDQ(k.k, k.end)
	k.r = GP64()
	XORQ(k.r, k.r)
	k.alpha, k.beta, k.readsY = XMM(), XMM(), GP64()
	e.load(addr(Param("alpha")), k.alpha)
	e.load(addr(Param("beta")), k.beta)
	e.bits(addr(Param("beta")), k.readsY)
	ADDQ(k.readsY, k.readsY)
	k.left, k.sum = GP64(), XMM()
	return k
}

// index loads index i behind k, and ends the call where it is out of range.
func (k *rower) index(i int) GPVirtual {
	g := GP64()
	MOVL(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: 4 * i}, g.As32())
	CMPQ(g, k.n)
	JAE(LabelRef("out"))
	return g
}

// value is where value i behind k lies.
func (k *rower) value(i int) Mem {
	return Mem{Base: k.val, Index: k.k, Scale: uint8(k.size()), Disp: k.size() * i}
}

// eights adds entries up while there are eight: in two registers or one, whose elements are
// added at the end.
func (k *rower) eights() {
	acc := []VecVirtual{YMM(), YMM()}
	for _, a := range acc {
		VXORPS(a, a, a)
	}
	Label("eight")
	PREFETCHT0(k.value(ahead / k.size()))
	PREFETCHT0(Mem{Base: k.idx, Index: k.k, Scale: 4, Disp: ahead})
	loaded := k.load8(func(half int) VecVirtual {
		var at [4]GPVirtual
		for i := range at {
			at[i] = k.index(4*half + i)
		}
		v := YMM()
		k.load4(k.x, at, v)
		return v
	})
	for i, v := range loaded {
		k.fmaPacked(k.value(i*32/k.size()), v, acc[i])
	}
	ADDQ(Imm(8), k.k)
	SUBQ(Imm(8), k.left)
	CMPQ(k.left, Imm(8))
	JGE(LabelRef("eight"))
	k.addPacked(acc[1], acc[0], acc[0])
	k.reduce(acc[0], k.sum)
}

// ones adds the other entries one by one, with a single branch for the processor to guess
// wrong, and goes on at label finish.
func (k *rower) ones() {
	SUBQ(Imm(1), k.left)
	JL(LabelRef("finish"))
	Label("one")
	at := k.index(0)
	v := XMM()
	k.load(k.value(0), v)
	k.fma(Mem{Base: k.x, Index: at, Scale: uint8(k.size())}, v, k.sum)
	INCQ(k.k)
	SUBQ(Imm(1), k.left)
	JGE(LabelRef("one"))
}

// finish writes the element of y.
func (k *rower) finish() {
	k.mul(k.alpha, k.sum, k.sum)
	place := Mem{Base: Load(Param("y").Base(), GP64()), Index: k.r, Scale: uint8(k.size())}
	TESTQ(k.readsY, k.readsY)
	JZ(LabelRef("store"))
	k.fma(place, k.beta, k.sum)
	Label("store")
	k.store(k.sum, place)
}

// addr is where a parameter lies.
func addr(c gotypes.Component) Mem {
	p, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
