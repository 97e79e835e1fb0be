// Command manybins generates the assembly that multiplies runs of bins by several vectors at once.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineCounts()
	for _, l := range lanes.All() {
		p := lanes.Part{Lanes: l}
		if l.Long {
			run(p, 1)
		} else {
			run(p, 1)
			run(p, 2)
		}
	}
	Generate()
}

const (
	unroll = 8  // entries of a round
	near   = 16 // entries by which a row of x and one of sums are prefetched: binNear in package bins
	line   = 64
	// toAhead is the number of bytes by which the numbers of sums are prefetched.
	toAhead = 8 * line
)

// kernel has the registers of a kernel.
type kernel struct {
	lanes.Part
	rows                  int // number of registers of a row of sums
	from, to, val         Register
	x, ldx, sums          Register
	later, laterX         Register
	soonIndices, soonVals Register
}

// run generates the kernel for rows of sums of rows registers.
func run(p lanes.Part, rows int) {
	name := fmt.Sprintf("manyBin%s", p.Suffix())
	if rows > 1 {
		name += "Two"
	}
	p.Func(name, "func(n, more, prefetchRounds int, from, to *uint16, val, x *V, ldx int, sums *V, last int, later *uint16, laterX *V, soonFrom *uint16, soonVal *byte, step int)",
		"computes, for n entries,",
		"",
		"\tfor i := range n {",
		"\t\tsums[to[i]][j] += val[i] * x[from[i]][j]",
		"\t}",
		"",
		"Rows of sums are whole registers; rows of x are ldx bytes apart and have last elements in the last register. more entries,",
		"at most binNear, are readable after the last one. For each of prefetchRounds rounds of 8 entries it prefetches the rows",
		"of laterX of 8 indices from later on, a line of soonFrom, and a line at soonVal, which advances by step bytes.")
	k := &kernel{Part: p, rows: rows}
	left := Load(Param("n"), GP64())
	k.from = Load(Param("from"), GP64())
	k.to = Load(Param("to"), GP64())
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	k.ldx = Load(Param("ldx"), GP64())
	k.sums = Load(Param("sums"), GP64())
	k.later = Load(Param("later"), GP64())
	k.laterX = Load(Param("laterX"), GP64())
	k.soonIndices = Load(Param("soonFrom"), GP64())
	k.soonVals = Load(Param("soonVal"), GP64())
	k.SetMask(Load(Param("last"), GP64()))

	lanes.Rounds(left, unroll, near, "last", func() {
		k.prefetchLater("several")
		k.prefetchSoon()
		for i := range unroll {
			k.prefetchNear(near + i)
			k.entry(i)
		}
		k.advance(unroll)
	}, func() {
		k.entry(0)
		k.advance(1)
	})
	Label("last")
	CMPQ(lanes.Arg("prefetchRounds"), Imm(0))
	JLE(LabelRef("done"))
	k.prefetchLater("last")
	JMP(LabelRef("last"))
	Label("done")
	VZEROUPPER()
	RET()
}

// prefetchLater prefetches the rows of x of a round of later entries, if there are any.
func (k *kernel) prefetchLater(name string) {
	SUBQ(Imm(1), lanes.Arg("prefetchRounds"))
	JL(LabelRef(name + "Prefetched"))
	for i := range unroll {
		PREFETCHT1(k.row(k.laterX, k.later, i))
	}
	ADDQ(Imm(2*unroll), k.later)
	Label(name + "Prefetched")
}

// prefetchSoon prefetches indices and values.
func (k *kernel) prefetchSoon() {
	PREFETCHT1(Mem{Base: k.soonVals})
	ADDQ(lanes.Arg("step"), k.soonVals)
	PREFETCHT0(Mem{Base: k.soonIndices})
	ADDQ(Imm(2*unroll), k.soonIndices)
	PREFETCHT0(Mem{Base: k.to, Disp: toAhead})
}

// row returns the row of x of index i.
func (k *kernel) row(x, indices Register, i int) Mem {
	g := GP64()
	MOVWLZX(Mem{Base: indices, Disp: 2 * i}, g.As32())
	IMULQ(k.ldx, g)
	return Mem{Base: x, Index: g, Scale: 1}
}

// sum returns the row of sums of entry i.
func (k *kernel) sum(i int) Mem {
	g := GP64()
	MOVWLZX(Mem{Base: k.to, Disp: 2 * i}, g.As32())
	bytes := k.rows * k.Bytes()
	SHLQ(Imm(map[int]uint64{32: 5, 64: 6}[bytes]), g)
	return Mem{Base: k.sums, Index: g, Scale: 1}
}

// prefetchNear prefetches the rows of x and of sums of entry i.
func (k *kernel) prefetchNear(i int) {
	PREFETCHT0(k.row(k.x, k.from, i))
	PREFETCHT0(k.sum(i))
}

// entry adds entry i.
func (k *kernel) entry(i int) {
	x, to, f := k.row(k.x, k.from, i), k.sum(i), k.Reg()
	k.Broadcast(Mem{Base: k.val, Disp: i * k.Size()}, f)
	for r := range k.rows {
		v, sum := k.Reg(), k.Reg()
		if r == k.rows-1 {
			k.LoadPart(x.Offset(r*k.Bytes()), v)
		} else {
			k.Load(x.Offset(r*k.Bytes()), v)
		}
		k.Load(to.Offset(r*k.Bytes()), sum)
		k.FMA(v, f, sum)
		k.Store(sum, to.Offset(r*k.Bytes()))
	}
}

// advance moves the pointers by n entries.
func (k *kernel) advance(n int) {
	ADDQ(Imm(uint64(2*n)), k.from)
	ADDQ(Imm(uint64(2*n)), k.to)
	ADDQ(Imm(uint64(k.Size()*n)), k.val)
}
