// Command runs generates the kernels of rows with entries in runs of successive columns: a register
// of x is multiplied for several rows.
package main

import (
	"fmt"
	"math/bits"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

const (
	kindBits  = 4 // bits of a group below its number of pieces
	mostRows  = 8 // rows of a group, and entries of a piece
	maskedFor = 4 // rows of a group of kind 0
)

func main() {
	defineMasks()
	for _, one := range []bool{false, true} {
		for _, l := range []lanes.Lanes{{Double: true, Long: true}, {Double: true}, {Masked: true}, {}} {
			if one || !l.Masked { // for values that differ, the kernels of AVX2 are faster
				straight(l, one)
			}
			transposed(l, one)
		}
	}
	Generate()
}

// kernel is one kernel, of eight lanes, or of four for float64 with AVX2. Products with the
// transpose load and store elements of y where others load elements of x, and have a factor in all
// lanes where others have the sum of a row.
type kernel struct {
	l          lanes.Lanes
	transposed bool
	one        VecVirtual // the value of all entries if they are equal, otherwise nil
	columns    Register
	masks      Register
	val        Register
	x          Register  // x or y
	rows       Register  // sums of the rows, or their factors
	left       GPVirtual // pieces left in the group
	acc        [mostRows]VecVirtual
	xs         VecVirtual
	mask
}

func straight(l lanes.Lanes, one bool) {
	k := &kernel{l: l}
	l.Func(name("runs", one, l), "func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *V, last int)",
		"computes MultiplyRuns for n groups:",
		"",
		"\tfor every row r, and each of its entries:",
		"\t\tsums[r] += value * x[column]",
		"",
		"In runsOne all values are val[0]. x has whole pieces for columns up to last.")
	k.x, k.rows = Load(Param("x"), GP64()), Load(Param("sums"), GP64())
	k.groups(one)
}

func transposed(l lanes.Lanes, one bool) {
	k := &kernel{l: l}
	l.Func(name("runsTransposed", one, l), "func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *V, first, last int)",
		"computes AddRunsTransposed for n groups:",
		"",
		"\tfor every row r, and each of its entries:",
		"\t\ty[column-first] += value * factors[r]",
		"",
		"In runsTransposedOne all values are val[0]. y has whole pieces for columns up to last.")
	k.transposed, k.x, k.rows = true, Load(Param("y"), GP64()), Load(Param("factors"), GP64())
	first := Load(Param("first"), GP64())
	SHLQ(Imm(k.shift()), first)
	SUBQ(first, k.x)
	k.groups(one)
}

func name(of string, one bool, l lanes.Lanes) string {
	if one {
		of += "One"
	}
	return of + l.Suffix()
}

// shift returns log2 of the bytes of an element.
func (k *kernel) shift() uint64 { return uint64(bits.TrailingZeros(uint(k.l.Size()))) }

// groups generates the loop over all groups. one says that all values are equal to the first one.
func (k *kernel) groups(one bool) {
	k.left, k.xs = GP64(), k.l.Reg()
	k.newMask()
	for i := range k.acc {
		k.acc[i] = k.l.Reg()
	}
	groups, kind := Load(Param("groups"), GP64()), GP64()
	k.columns = Load(Param("columns"), GP64())
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	if one {
		k.one = k.l.Reg()
		k.l.Broadcast(Mem{Base: k.val}, k.one)
	}

	Label("group")
	SUBQ(Imm(1), lanes.Arg("n"))
	JL(LabelRef("done"))
	MOVL(Mem{Base: groups}, k.left.As32())
	ADDQ(Imm(4), groups)
	MOVQ(k.left, kind)
	ANDQ(Imm(1<<kindBits-1), kind)
	SHRQ(Imm(kindBits), k.left)
	last := mostRows
	if one {
		last = 1 // rows have equal sums, or one factor together: their number does not matter
	}
	branch(kind, 0, last)
	for rows := range last + 1 {
		Label(fmt.Sprintf("kind%d", rows))
		switch {
		case rows == 0:
			k.group(rows, maskedFor, k.masked)
		case one && k.transposed:
			k.addGroupOfOne(kind)
		case one:
			k.groupOfOne(kind)
		default:
			k.group(rows, rows, k.same)
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
	for _, do := range k.aside {
		do()
	}
}

// branch jumps to one of the kinds lo ... hi, by binary search.
func branch(kind GPVirtual, lo, hi int) {
	if lo == hi {
		JMP(LabelRef(fmt.Sprintf("kind%d", lo)))
		return
	}
	mid := (lo + hi + 1) / 2
	label := fmt.Sprintf("from%d", mid)
	CMPQ(kind, Imm(uint64(mid)))
	JGE(LabelRef(label))
	branch(kind, lo, mid-1)
	Label(label)
	branch(kind, mid, hi)
}

// group multiplies a group of rows rows; piece generates one of its pieces.
func (k *kernel) group(kind, rows int, piece func(rows int)) {
	acc := slices.Clone(k.acc[:rows])
	for i, a := range acc {
		if k.transposed {
			k.l.Broadcast(Mem{Base: k.rows, Disp: i * k.l.Size()}, a)
		} else {
			k.l.Zero(a)
		}
	}
	k.pieces(kind, func() { piece(rows) })
	if !k.transposed {
		for r := 0; r < rows; r += 4 { // sums has room after the last one
			k.l.StoreSums(acc[r:min(r+4, rows)], Mem{Base: k.rows, Disp: r * k.l.Size()})
		}
	}
	ADDQ(Imm(uint64(rows*k.l.Size())), k.rows)
	JMP(LabelRef("group"))
}

// groupOfOne multiplies a group of rows if all values are equal: the sum of the first row is that
// of each row. sums has room for mostRows rows.
func (k *kernel) groupOfOne(rows GPVirtual) {
	acc := k.acc[0]
	k.l.Zero(acc)
	k.pieces(1, k.sameSum)
	k.l.StoreSums([]VecVirtual{acc, acc, acc, acc}, Mem{Base: k.rows})
	CMPQ(rows, Imm(4))
	JLE(LabelRef("stored"))
	k.l.StoreSums([]VecVirtual{acc, acc, acc, acc}, Mem{Base: k.rows, Disp: 4 * k.l.Size()})
	Label("stored")
	LEAQ(Mem{Base: k.rows, Index: rows, Scale: uint8(k.l.Size())}, k.rows)
	JMP(LabelRef("group"))
}

// addGroupOfOne is groupOfOne for transposed products: all elements of y get the value times the
// sum of the factors.
func (k *kernel) addGroupOfOne(rows GPVirtual) {
	sum := k.acc[0]
	k.l.Zero(sum)
	Label("factor")
	k.l.FMAOne(Mem{Base: k.rows}, k.one.AsX(), sum.AsX())
	ADDQ(Imm(uint64(k.l.Size())), k.rows)
	DECQ(rows)
	JNZ(LabelRef("factor"))
	k.l.Spread(sum)
	k.pieces(1, k.sameProduct)
	JMP(LabelRef("group"))
}

// pieces generates the loop over the pieces of a group.
func (k *kernel) pieces(kind int, piece func()) {
	TESTQ(k.left, k.left)
	JZ(LabelRef(fmt.Sprintf("end%d", kind)))
	Label(fmt.Sprintf("piece%d", kind))
	piece()
	ADDQ(Imm(4), k.columns)
	DECQ(k.left)
	JNZ(LabelRef(fmt.Sprintf("piece%d", kind)))
	Label(fmt.Sprintf("end%d", kind))
}
