// Command manytiles generates the assembly that multiplies one tile of a matrix by
// several vectors at once.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

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
	unroll = 4  // entries of a round
	ahead  = 32 // entries before its turn that a row of sums is asked for: tileAhead in package simd
)

// tile generates the kernel for one register of columns: whole registers of sums,
// and as much as there is of x.
func tile(p lanes.Part) {
	name := "manyTile" + p.Suffix()
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n, more int, entries *uint32, val, x *%[1]s, ldx int, acc *%[1]s, lda, last int, next *uint32, nextX *%[1]s)", p.Type()))
	Pragma("noescape")
	Doc(name+" adds n entries to the rows of acc, which lie lda bytes apart, and those of",
		"x ldx bytes: of x the last first elements of a register. more, at most tileAhead, entries",
		"behind them can be read. Rows of nextX for n entries from next on are brought to the",
		"cache, if it is not nil.")
	left := Load(Param("n"), GP64())
	entries := Load(Param("entries"), GP64())
	val := Load(Param("val"), GP64())
	x := Load(Param("x"), GP64())
	ldx := Load(Param("ldx"), GP64())
	acc := Load(Param("acc"), GP64())
	lda := Load(Param("lda"), GP64())
	next := Load(Param("next"), GP64())
	nextX := Load(Param("nextX"), GP64())
	p.SetMask(Load(Param("last"), GP64()))

	entry := func(i int) {
		col, row := GP64(), GP64()
		MOVL(Mem{Base: entries, Disp: 4 * i}, row.As32())
		MOVWLZX(row.As16(), col.As32())
		SHRL(Imm(16), row.As32())
		IMULQ(ldx, col)
		IMULQ(lda, row)
		b, sum := p.Reg(), p.Reg()
		p.LoadPart(Mem{Base: x, Index: col, Scale: 1}, b)
		p.Load(Mem{Base: acc, Index: row, Scale: 1}, sum)
		p.FMABroadcast(Mem{Base: val, Disp: i * p.Size()}, b, sum)
		p.Store(sum, Mem{Base: acc, Index: row, Scale: 1})
	}
	advance := func(n int) {
		ADDQ(Imm(uint64(4*n)), entries)
		ADDQ(Imm(uint64(p.Size()*n)), val)
	}

	ADDQ(lanes.Arg("more"), left)
	SUBQ(Imm(unroll+ahead), left)
	JL(LabelRef("rest"))
	Label("several")
	TESTQ(next, next)
	JZ(LabelRef("asked"))
	for i := range unroll {
		col := GP64()
		MOVWLZX(Mem{Base: next, Disp: 4 * i}, col.As32())
		IMULQ(ldx, col)
		PREFETCHT1(Mem{Base: nextX, Index: col, Scale: 1})
		if !p.Half { // the row may reach into another line
			PREFETCHT1(Mem{Base: nextX, Index: col, Scale: 1, Disp: p.Bytes() / 2})
		}
	}
	ADDQ(Imm(4*unroll), next)
	Label("asked")
	for i := range unroll {
		row := GP64()
		MOVWLZX(Mem{Base: entries, Disp: 4*(ahead+i) + 2}, row.As32())
		IMULQ(lda, row)
		PREFETCHT0(Mem{Base: acc, Index: row, Scale: 1})
		entry(i)
	}
	advance(unroll)
	SUBQ(Imm(unroll), left)
	JGE(LabelRef("several"))
	Label("rest")
	ADDQ(Imm(unroll+ahead), left)
	SUBQ(lanes.Arg("more"), left)
	JZ(LabelRef("done"))
	Label("one")
	entry(0)
	advance(1)
	DECQ(left)
	JNZ(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}
