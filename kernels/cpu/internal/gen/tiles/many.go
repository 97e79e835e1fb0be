package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// ahead is the number of entries by which a row of sums is prefetched: tileAhead in package tiles.
const ahead = 32

// many has the registers of a kernel for several vectors.
type many struct {
	lanes.Part
	entries, val, x, ldx, acc, lda Register
	next, nextX                    Register
}

// manyTile generates the kernel for one register of columns: it stores whole registers of sums and
// reads the columns of x that exist.
func manyTile(p lanes.Part) {
	name := "manyTile" + p.Suffix()
	p.FuncOf(name, "manyTileArgs[V]", "n, more int, entries *uint32, val, x *V, ldx int, acc *V, lda, last int, next *uint32, nextX *V",
		"multiplies a tile by one register of columns; see manyTileArgs.")
	k := &many{Part: p}
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
		k.prefetchNext()
		for i := range unroll {
			k.prefetchSums(ahead + i)
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

// prefetchNext prefetches the rows of x for a round of the next tile, if there is one.
func (k *many) prefetchNext() {
	TESTQ(k.next, k.next)
	JZ(LabelRef("prefetched"))
	for i := range unroll {
		col := GP64()
		MOVWLZX(Mem{Base: k.next, Disp: 4 * i}, col.As32())
		IMULQ(k.ldx, col)
		PREFETCHT1(Mem{Base: k.nextX, Index: col, Scale: 1})
		if !k.Half { // the row may extend to another line
			PREFETCHT1(Mem{Base: k.nextX, Index: col, Scale: 1, Disp: k.Bytes() / 2})
		}
	}
	ADDQ(Imm(4*unroll), k.next)
	Label("prefetched")
}

// prefetchSums prefetches the row of sums of entry i.
func (k *many) prefetchSums(i int) {
	row := GP64()
	MOVWLZX(Mem{Base: k.entries, Disp: 4*i + 2}, row.As32())
	IMULQ(k.lda, row)
	PREFETCHT0(Mem{Base: k.acc, Index: row, Scale: 1})
}

// entry adds entry i.
func (k *many) entry(i int) {
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

// advance moves the pointers by n entries.
func (k *many) advance(n int) {
	ADDQ(Imm(uint64(4*n)), k.entries)
	ADDQ(Imm(uint64(k.Size()*n)), k.val)
}
