package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

const (
	spreadAtOnce  = 8 // elements that spread writes at a time
	scatterUnroll = 8 // entries of a round
	// An element of y is asked for twice: for the second cache, which waits for more
	// lines at a time than the first, and then for that one, so many entries before its
	// turn.
	scatterFar  = 128
	scatterNear = 16
)

// spread generates the kernel that writes the factor of each row once for each of its
// entries. Rows of up to spreadAtOnce entries take no branch that depends on their
// length, which the processor could not foresee.
func spread(l lanes.Lanes) {
	l.Func("spread"+l.Suffix(), "func(alpha V, ptr []int64, x, f []V) (rows int)",
		"sets f[k] to alpha*x[r] for ptr[r]-ptr[0] <= k < ptr[r+1]-ptr[0], as",
		fmt.Sprintf("far as pointers rise and leave %d elements of f, which are spoiled: it gives the", spreadAtOnce),
		"number of rows done. ptr has len(x)+1 elements.")
	size := l.Size()
	ptr := Load(Param("ptr").Base(), GP64())
	x := Load(Param("x").Base(), GP64())
	n := Load(Param("x").Len(), GP64())
	f := Load(Param("f").Base(), GP64())
	end := Load(Param("f").Len(), GP64())
	base, k, r, to := GP64(), GP64(), GP64(), GP64()
	MOVQ(Mem{Base: ptr}, base)
	XORQ(k, k)
	XORQ(r, r)
	SUBQ(Imm(spreadAtOnce), end)
	alpha, factor, all := XMM(), XMM(), YMM()
	l.MoveOne(lanes.Arg("alpha"), alpha)

	Label("row")
	CMPQ(r, n)
	JGE(LabelRef("out"))
	MOVQ(Mem{Base: ptr, Index: r, Scale: 8, Disp: 8}, to)
	SUBQ(base, to)
	CMPQ(to, end)
	JG(LabelRef("out"))
	CMPQ(to, k)
	JL(LabelRef("out"))
	l.MoveOne(Mem{Base: x, Index: r, Scale: uint8(size)}, factor)
	l.MulOne(alpha, factor, factor)
	lanes.Pick(l, VBROADCASTSD, VBROADCASTSS)(factor, all)
	Label("write")
	for at := 0; at < spreadAtOnce*size; at += 32 {
		VMOVUPS(all, Mem{Base: f, Index: k, Scale: uint8(size), Disp: at})
	}
	ADDQ(Imm(spreadAtOnce), k)
	CMPQ(k, to)
	JL(LabelRef("write"))
	MOVQ(to, k)
	INCQ(r)
	JMP(LabelRef("row"))
	Label("out")
	Store(r, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// scatterer is the registers of a kernel that adds entries to y.
type scatterer struct {
	lanes.Lanes
	idx, val, f, y, first Register
	n                     Register // len(y)
	m, k, asks            Register // entries, the next one, and up to which there are some to ask for
}

// scatter generates the kernel that adds entries with a factor each: one after the
// other, for elements of y may come more than once. With far it asks for elements of y
// ahead: more of them are then under way than the processor looks ahead by itself.
func scatter(l lanes.Lanes) {
	l.Func("scatter"+l.Suffix(), "func(n int, idx []int32, val, f, y []V, first int, far bool) (done int)",
		"adds val[k]*f[k] to y[idx[k]-first] for k < n, up to the first whose",
		"place is not in y: it gives the number of those done. With far it asks for the",
		"places of all of idx, which may be more than n, before their turn.")
	s := beginScatter(l)
	SUBQ(Imm(scatterUnroll), s.m)
	JL(LabelRef("rest"))
	Label("several")
	s.ask()
	for i := range scatterUnroll {
		s.addEntry(i)
	}
	ADDQ(Imm(scatterUnroll), s.k)
	CMPQ(s.k, s.m)
	JLE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(scatterUnroll), s.m)
	Label("one")
	CMPQ(s.k, s.m)
	JGE(LabelRef("out0"))
	s.addEntry(0)
	INCQ(s.k)
	JMP(LabelRef("one"))
	for i := scatterUnroll - 1; i > 0; i-- {
		Label(fmt.Sprintf("out%d", i))
		INCQ(s.k)
	}
	Label("out0")
	Store(s.k, ReturnIndex(0))
	RET()
}

// beginScatter loads the arguments.
func beginScatter(l lanes.Lanes) *scatterer {
	s := &scatterer{Lanes: l}
	s.m = Load(Param("n"), GP64())
	s.idx = Load(Param("idx").Base(), GP64())
	s.val = Load(Param("val").Base(), GP64())
	s.f = Load(Param("f").Base(), GP64())
	s.y = Load(Param("y").Base(), GP64())
	s.n = Load(Param("y").Len(), GP64())
	s.first = Load(Param("first"), GP64())
	s.k, s.asks = GP64(), GP64()
	XORQ(s.k, s.k)
	XORQ(s.asks, s.asks)
	CMPB(lanes.Arg("far"), Imm(0))
	JEQ(LabelRef("begin"))
	MOVQ(lanes.Place(Param("idx").Len()), s.asks)
	SUBQ(Imm(scatterFar+scatterUnroll-1), s.asks)
	Label("begin")
	return s
}

// place gives the element of y for entry i behind k.
func (s *scatterer) place(i int) GPVirtual {
	at := GP64()
	MOVLQSX(Mem{Base: s.idx, Index: s.k, Scale: 4, Disp: 4 * i}, at)
	SUBQ(s.first, at)
	return at
}

// ask asks for what comes later.
func (s *scatterer) ask() {
	PREFETCHT0(Mem{Base: s.val, Index: s.k, Scale: uint8(s.Size()), Disp: ahead})
	PREFETCHT0(Mem{Base: s.idx, Index: s.k, Scale: 4, Disp: ahead})
	CMPQ(s.k, s.asks)
	JGE(LabelRef("asked"))
	for i := range scatterUnroll {
		PREFETCHT1(Mem{Base: s.y, Index: s.place(scatterFar + i), Scale: uint8(s.Size())})
		PREFETCHT0(Mem{Base: s.y, Index: s.place(scatterNear + i), Scale: uint8(s.Size())})
	}
	Label("asked")
}

// addEntry adds entry i behind k, and goes on at label outI where its place is not in y.
func (s *scatterer) addEntry(i int) {
	at, v := s.place(i), XMM()
	CMPQ(at, s.n)
	JAE(LabelRef(fmt.Sprintf("out%d", i)))
	s.MoveOne(Mem{Base: s.val, Index: s.k, Scale: uint8(s.Size()), Disp: s.Size() * i}, v)
	s.MulOne(Mem{Base: s.f, Index: s.k, Scale: uint8(s.Size()), Disp: s.Size() * i}, v, v)
	to := Mem{Base: s.y, Index: at, Scale: uint8(s.Size())}
	s.AddOne(to, v, v)
	s.MoveOne(v, to)
}
