// Command manybins generates the assembly that multiplies runs of bins by several vectors at
// once.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
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
	near   = 16 // entries before its turn that a row of x and one of sums are asked for: binNear in package simd
	line   = 64
	// toAhead is how many bytes of the numbers of sums are asked for ahead.
	toAhead = 8 * line
)

// kernel is the registers of a kernel.
type kernel struct {
	lanes.Part
	rows                  int // registers of a row of sums
	from, to, val         Register
	x, ldx, sums          Register
	later, laterX         Register
	soonIndices, soonVals Register
}

// run generates the kernel for rows of sums of so many registers.
func run(p lanes.Part, rows int) {
	name := fmt.Sprintf("manyBin%s", p.Suffix())
	if rows > 1 {
		name += "Two"
	}
	p.Func(name, "func(n, more, asks int, from, to *uint16, val, x *V, ldx int, sums *V, last int, later *uint16, laterX *V, soonFrom *uint16, soonVal *byte, step int)",
		"adds n entries to the rows of sums that to numbers, of whole registers: values",
		"times the rows of x that from numbers, which lie ldx bytes apart and have last elements in",
		"the last register. more, at most binNear, entries behind them can be read. Rows of laterX for",
		"asks times 8 entries from later on are brought to the cache, and meanwhile what lies at",
		"soonFrom, and at soonVal, where 8 entries have step bytes.")
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
		k.askLater("several")
		k.askSoon()
		for i := range unroll {
			k.askNear(near + i)
			k.entry(i)
		}
		k.advance(unroll)
	}, func() {
		k.entry(0)
		k.advance(1)
	})
	Label("last")
	CMPQ(lanes.Arg("asks"), Imm(0))
	JLE(LabelRef("done"))
	k.askLater("last")
	JMP(LabelRef("last"))
	Label("done")
	VZEROUPPER()
	RET()
}

// askLater asks for the rows of x of a round of later entries, if there are any.
func (k *kernel) askLater(name string) {
	SUBQ(Imm(1), lanes.Arg("asks"))
	JL(LabelRef(name + "Asked"))
	for i := range unroll {
		PREFETCHT1(k.row(k.laterX, k.later, i))
	}
	ADDQ(Imm(2*unroll), k.later)
	Label(name + "Asked")
}

// askSoon asks for indices and values.
func (k *kernel) askSoon() {
	PREFETCHT1(Mem{Base: k.soonVals})
	ADDQ(lanes.Arg("step"), k.soonVals)
	PREFETCHT0(Mem{Base: k.soonIndices})
	ADDQ(Imm(2*unroll), k.soonIndices)
	PREFETCHT0(Mem{Base: k.to, Disp: toAhead})
}

// row is the row of x for index i behind a pointer.
func (k *kernel) row(x, indices Register, i int) Mem {
	g := GP64()
	MOVWLZX(Mem{Base: indices, Disp: 2 * i}, g.As32())
	IMULQ(k.ldx, g)
	return Mem{Base: x, Index: g, Scale: 1}
}

// sum is the row of sums of entry i behind the pointers.
func (k *kernel) sum(i int) Mem {
	g := GP64()
	MOVWLZX(Mem{Base: k.to, Disp: 2 * i}, g.As32())
	bytes := k.rows * k.Bytes()
	SHLQ(Imm(map[int]uint64{32: 5, 64: 6}[bytes]), g)
	return Mem{Base: k.sums, Index: g, Scale: 1}
}

// askNear asks for the rows of x and of sums of entry i behind the pointers.
func (k *kernel) askNear(i int) {
	PREFETCHT0(k.row(k.x, k.from, i))
	PREFETCHT0(k.sum(i))
}

// entry adds entry i behind the pointers.
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

// advance moves the pointers behind n entries.
func (k *kernel) advance(n int) {
	ADDQ(Imm(uint64(2*n)), k.from)
	ADDQ(Imm(uint64(2*n)), k.to)
	ADDQ(Imm(uint64(k.Size()*n)), k.val)
}
