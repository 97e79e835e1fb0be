// Command manytiles generates the assembly that multiplies one tile of a matrix by
// several vectors at once.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineCounts()
	for _, l := range append(lanes.All(), lanes.Halves()...) {
		tile(lanes.Part{Lanes: l})
	}
	Generate()
}

const (
	unroll = 8  // entries of a round
	ahead  = 32 // entries before its turn that a row of sums is asked for: tileAhead in package simd
)

// How many bytes before their turn values and entries are asked for, as for one vector.
const (
	valuesAhead  = 8192
	entriesAhead = 4096
)

// kernel is the registers of a kernel.
type kernel struct {
	lanes.Part
	entries, val, x, ldx, acc, lda Register
	next, nextX                    Register
}

// tile generates the kernel for one register of columns: whole registers of sums,
// and as much as there is of x.
func tile(p lanes.Part) {
	name := "manyTile" + p.Suffix()
	p.Func(name, "func(n, more int, entries *uint32, val, x *V, ldx int, acc *V, lda, last int, next *uint32, nextX *V)",
		"adds n entries to the rows of acc, which lie lda bytes apart, and those of",
		"x ldx bytes: of x the last first elements of a register. more, at most tileAhead, entries",
		"behind them can be read. Rows of nextX for n entries from next on are brought to the",
		"cache, if it is not nil.")
	k := &kernel{Part: p}
	left := Load(Param("n"), GP64())
	k.entries = Load(Param("entries"), GP64())
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	k.ldx = Load(Param("ldx"), GP64())
	k.acc = Load(Param("acc"), GP64())
	k.lda = Load(Param("lda"), GP64())
	k.next = Load(Param("next"), GP64())
	k.nextX = Load(Param("nextX"), GP64())
	k.SetMask(Load(Param("last"), GP64()))

	lanes.Rounds(left, unroll, ahead, "done", func() {
		PREFETCHT1(Mem{Base: k.val, Disp: valuesAhead})
		PREFETCHT1(Mem{Base: k.entries, Disp: entriesAhead})
		k.askNext()
		for i := range unroll {
			k.askSums(ahead + i)
			k.entry(i)
		}
		k.advance(unroll)
	}, func() {
		k.entry(0)
		k.advance(1)
	})
	Label("done")
	VZEROUPPER()
	RET()
}

// askNext asks for the rows of x for a round of the next tile, if there is one.
func (k *kernel) askNext() {
	TESTQ(k.next, k.next)
	JZ(LabelRef("asked"))
	for i := range unroll {
		col := GP64()
		MOVWLZX(Mem{Base: k.next, Disp: 4 * i}, col.As32())
		IMULQ(k.ldx, col)
		PREFETCHT1(Mem{Base: k.nextX, Index: col, Scale: 1})
		if !k.Half { // the row may reach into another line
			PREFETCHT1(Mem{Base: k.nextX, Index: col, Scale: 1, Disp: k.Bytes() / 2})
		}
	}
	ADDQ(Imm(4*unroll), k.next)
	Label("asked")
}

// askSums asks for the row of sums of entry i behind the pointers.
func (k *kernel) askSums(i int) {
	row := GP64()
	MOVWLZX(Mem{Base: k.entries, Disp: 4*i + 2}, row.As32())
	IMULQ(k.lda, row)
	PREFETCHT0(Mem{Base: k.acc, Index: row, Scale: 1})
}

// entry adds entry i behind the pointers.
func (k *kernel) entry(i int) {
	col, row := GP64(), GP64()
	MOVL(Mem{Base: k.entries, Disp: 4 * i}, row.As32())
	MOVWLZX(row.As16(), col.As32())
	SHRL(Imm(16), row.As32())
	IMULQ(k.ldx, col)
	IMULQ(k.lda, row)
	b, sum := k.Reg(), k.Reg()
	k.LoadPart(Mem{Base: k.x, Index: col, Scale: 1}, b)
	k.Load(Mem{Base: k.acc, Index: row, Scale: 1}, sum)
	k.FMABroadcast(Mem{Base: k.val, Disp: i * k.Size()}, b, sum)
	k.Store(sum, Mem{Base: k.acc, Index: row, Scale: 1})
}

// advance moves the pointers behind n entries.
func (k *kernel) advance(n int) {
	ADDQ(Imm(uint64(4*n)), k.entries)
	ADDQ(Imm(uint64(k.Size()*n)), k.val)
}
