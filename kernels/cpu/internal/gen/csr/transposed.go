package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

const (
	spreadAtOnce     = 8 // elements that spread writes at a time
	transposedUnroll = 8 // entries of a round
	// Elements of y are prefetched twice: for the second-level cache, which waits for more lines at
	// a time than the first-level cache, and then for that one. These are the numbers of entries by
	// which they are prefetched.
	transposedFar  = 128
	transposedNear = 16
)

// spread generates the kernel that writes the factor of each row once for each of its entries. Rows
// of up to spreadAtOnce entries have no branch on their length, which would be unpredictable.
func spread(l lanes.Lanes) {
	l.Func("spread"+l.Suffix(), "func(alpha V, ptr []int64, x, f []V) (rows int)",
		"computes",
		"",
		"\tfor r := range x {",
		"\t\tfor k := ptr[r] - ptr[0]; k < ptr[r+1]-ptr[0]; k++ {",
		"\t\t\tf[k] = alpha * x[r]",
		"\t\t}",
		"\t}",
		"",
		"It stops at the first row that has a negative length or does not leave 8 elements of f after it, and returns the",
		"number of rows done. The 8 elements after the last one are overwritten.")
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

// transposer has the registers of a kernel that adds entries to y.
type transposer struct {
	lanes.Lanes
	idx, val, f, y, first Register
	n                     Register // len(y)
	m, k, prefetchEnd     Register // number of entries, the next one, and the first one that does not prefetch
}

// transposed generates the kernel that adds entries with a factor each, one after the other, because
// elements of y may repeat. With far it prefetches elements of y: more of them are then pending
// than by out-of-order execution alone.
func transposed(l lanes.Lanes) {
	l.Func("rowsTransposed"+l.Suffix(), "func(a *rowsTransposedArgs[V])",
		"computes",
		"",
		"\tfor k := range a.n {",
		"\t\ta.y[a.idx[k]-a.first] += a.val[k] * a.f[k]",
		"\t}",
		"",
		"up to the first element outside y, and sets a.n to the number of entries done.")
	s := beginTransposed(l)
	SUBQ(Imm(transposedUnroll), s.m)
	JL(LabelRef("rest"))
	Label("several")
	s.prefetch()
	for i := range transposedUnroll {
		s.addEntry(i)
	}
	ADDQ(Imm(transposedUnroll), s.k)
	CMPQ(s.k, s.m)
	JLE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(transposedUnroll), s.m)
	Label("one")
	CMPQ(s.k, s.m)
	JGE(LabelRef("out0"))
	s.addEntry(0)
	INCQ(s.k)
	JMP(LabelRef("one"))
	for i := transposedUnroll - 1; i > 0; i-- {
		Label(fmt.Sprintf("out%d", i))
		INCQ(s.k)
	}
	Label("out0")
	MOVQ(s.k, lanes.Arg("n"))
	RET()
}

// beginTransposed loads the arguments.
func beginTransposed(l lanes.Lanes) *transposer {
	s := &transposer{Lanes: l}
	a := lanes.Args("n", "idx", "indices", "val", "f", "y", "rows", "first", "far")
	s.m, s.idx, s.val, s.f = a.Load("n"), a.Load("idx"), a.Load("val"), a.Load("f")
	s.y, s.n, s.first = a.Load("y"), a.Load("rows"), a.Load("first")
	s.k, s.prefetchEnd = GP64(), GP64()
	XORQ(s.k, s.k)
	XORQ(s.prefetchEnd, s.prefetchEnd)
	CMPB(lanes.Arg("far"), Imm(0))
	JEQ(LabelRef("begin"))
	MOVQ(a.Mem("indices"), s.prefetchEnd)
	SUBQ(Imm(transposedFar+transposedUnroll-1), s.prefetchEnd)
	Label("begin")
	a.Release()
	return s
}

// place returns the index in y of entry k+i.
func (s *transposer) place(i int) GPVirtual {
	at := GP64()
	MOVLQSX(Mem{Base: s.idx, Index: s.k, Scale: 4, Disp: 4 * i}, at)
	SUBQ(s.first, at)
	return at
}

// prefetch prefetches later values, indices and elements of y.
func (s *transposer) prefetch() {
	PREFETCHT0(Mem{Base: s.val, Index: s.k, Scale: uint8(s.Size()), Disp: ahead})
	PREFETCHT0(Mem{Base: s.idx, Index: s.k, Scale: 4, Disp: ahead})
	CMPQ(s.k, s.prefetchEnd)
	JGE(LabelRef("prefetched"))
	for i := range transposedUnroll {
		PREFETCHT1(Mem{Base: s.y, Index: s.place(transposedFar + i), Scale: uint8(s.Size())})
		PREFETCHT0(Mem{Base: s.y, Index: s.place(transposedNear + i), Scale: uint8(s.Size())})
	}
	Label("prefetched")
}

// addEntry adds entry k+i, and jumps to label out<i> if its element is not in y.
func (s *transposer) addEntry(i int) {
	at, v := s.place(i), XMM()
	CMPQ(at, s.n)
	JAE(LabelRef(fmt.Sprintf("out%d", i)))
	s.MoveOne(Mem{Base: s.val, Index: s.k, Scale: uint8(s.Size()), Disp: s.Size() * i}, v)
	s.MulOne(Mem{Base: s.f, Index: s.k, Scale: uint8(s.Size()), Disp: s.Size() * i}, v, v)
	to := Mem{Base: s.y, Index: at, Scale: uint8(s.Size())}
	s.AddOne(to, v, v)
	s.MoveOne(v, to)
}
