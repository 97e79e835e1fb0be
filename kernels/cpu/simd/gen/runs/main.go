// Command runs generates the kernels of rows whose entries stand in runs of successive
// columns: a run is multiplied by a register of x, for several rows one after the other.
package main

import (
	"fmt"
	"math/bits"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

const (
	kindBits  = 4 // of a group, below its number of pieces
	mostRows  = 8 // of a group, and entries of a piece
	maskedFor = 4 // rows of a group of kind 0
)

func main() {
	defineMasks()
	for _, one := range []bool{false, true} {
		for _, l := range []lanes.Lanes{{Double: true, Long: true}, {Double: true}, {Masked: true}, {}} {
			if one || !l.Masked { // with values of their own those of AVX2 take less time
				straight(l, one)
			}
			transposed(l, one)
		}
	}
	Generate()
}

// kernel is one kernel: of eight lanes, but of four for float64 in AVX2.
// Products with the transpose load and store elements of y where others load those of x,
// and have a factor in all lanes where these have the sum of a row.
type kernel struct {
	l          lanes.Lanes
	transposed bool
	one        VecVirtual // the value of all entries, where they have one, or nil
	columns    Register
	masks      Register
	val        Register
	x          Register  // or y
	rows       Register  // the sums of the rows, or their factors
	left       GPVirtual // pieces of the group
	acc        [mostRows]VecVirtual
	xs         VecVirtual
	mask
}

func straight(l lanes.Lanes, one bool) {
	k := &kernel{l: l}
	l.Func(name("runs", one, l), "func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *V, last int)",
		"is MultiplyRuns for the case in its name. x has all lanes up to", "those of element last.")
	k.x, k.rows = Load(Param("x"), GP64()), Load(Param("sums"), GP64())
	k.groups(one)
}

func transposed(l lanes.Lanes, one bool) {
	k := &kernel{l: l}
	l.Func(name("runsTransposed", one, l), "func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *V, first, last int)",
		"is AddRunsTransposed for the case in its name. y begins with", "element first, and has all lanes up to those of element last.")
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

// shift is the logarithm of the bytes of an element.
func (k *kernel) shift() uint64 { return uint64(bits.TrailingZeros(uint(k.l.Size()))) }

// groups goes through all groups. one says that all values are the first.
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
		last = 1 // their number is no matter where rows have the same sum, or are one factor together
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

// branch jumps to one of the kinds lo ... hi, by halves.
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

// group multiplies a group of so many rows by piece, which multiplies one of its pieces.
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
		for r := 0; r < rows; r += 4 { // sums has room behind the last
			k.l.StoreSums(acc[r:min(r+4, rows)], Mem{Base: k.rows, Disp: r * k.l.Size()})
		}
	}
	ADDQ(Imm(uint64(rows*k.l.Size())), k.rows)
	JMP(LabelRef("group"))
}

// groupOfOne multiplies a group of rows with one value for all entries: they have the sum of the first. sums
// has room for mostRows of them.
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

// addGroupOfOne is groupOfOne for transposed products: all elements of y get the value times the sum of the factors.
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

// pieces does something for each piece of a group.
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
