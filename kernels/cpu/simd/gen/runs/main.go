// Command runs generates the kernels of rows whose entries stand in runs of successive
// columns: a run is multiplied by a register of x, for several rows one after the other.
package main

import (
	"fmt"
	"math/bits"

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
	runs(lanes.Lanes{Double: true, Long: true})
	runs(lanes.Lanes{})
	Generate()
}

// kernel is one kernel: of eight lanes, in 512 bits for float64 and 256 for float32.
type kernel struct {
	l       lanes.Lanes
	columns Register
	masks   Register
	val     Register
	x       Register
	sums    Register
	left    GPVirtual // pieces of the group
	acc     [mostRows]VecVirtual
	xs      VecVirtual
	mask    OpmaskVirtual
}

func runs(l lanes.Lanes) {
	name := fmt.Sprintf("runsF%dAVX512", 8*l.Size())
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *%s)", l.Type()))
	Pragma("noescape")
	Doc(name + " is MultiplyRuns for the case in its name.")
	k := &kernel{l: l, left: GP64(), xs: l.Reg(), mask: K()}
	for i := range k.acc {
		k.acc[i] = l.Reg()
	}
	groups, kind := Load(Param("groups"), GP64()), GP64()
	k.columns = Load(Param("columns"), GP64())
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	k.sums = Load(Param("sums"), GP64())

	Label("group")
	SUBQ(Imm(1), lanes.Arg("n"))
	JL(LabelRef("done"))
	MOVL(Mem{Base: groups}, k.left.As32())
	ADDQ(Imm(4), groups)
	MOVQ(k.left, kind)
	ANDQ(Imm(1<<kindBits-1), kind)
	SHRQ(Imm(kindBits), k.left)
	branch(kind, 0, mostRows)
	for rows := range mostRows + 1 {
		Label(fmt.Sprintf("kind%d", rows))
		if rows == 0 {
			k.group(rows, maskedFor, k.masked)
		} else {
			k.group(rows, rows, k.same)
		}
	}
	Label("done")
	VZEROUPPER()
	RET()
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
	acc := k.acc[:rows]
	for _, a := range acc {
		k.l.Zero(a)
	}
	TESTQ(k.left, k.left)
	JZ(LabelRef(fmt.Sprintf("sum%d", kind)))
	Label(fmt.Sprintf("piece%d", kind))
	piece(rows)
	ADDQ(Imm(4), k.columns)
	DECQ(k.left)
	JNZ(LabelRef(fmt.Sprintf("piece%d", kind)))
	Label(fmt.Sprintf("sum%d", kind))
	k.store(acc)
	ADDQ(Imm(uint64(rows*k.l.Size())), k.sums)
	JMP(LabelRef("group"))
}

// same multiplies a piece that all rows have.
func (k *kernel) same(rows int) {
	m, step := GP64(), GP64()
	MOVBLZX(Mem{Base: k.masks}, m.As32())
	INCQ(k.masks)
	KMOVB(m.As32(), k.mask)
	POPCNTL(m.As32(), step.As32())
	SHLQ(Imm(uint64(bits.TrailingZeros(uint(k.l.Size())))), step) // bytes of a row of the piece
	k.loadX(true)
	// times has the multiples of step that no scale makes.
	times := map[int]GPVirtual{1: step}
	place := func(n int) Mem {
		if n == 0 {
			return Mem{Base: k.val}
		}
		for _, scale := range []int{1, 2, 4, 8} {
			if g, ok := times[n/scale]; ok && n%scale == 0 {
				return Mem{Base: k.val, Index: g, Scale: uint8(scale)}
			}
		}
		g := GP64()
		if n == 7 {
			LEAQ(Mem{Base: times[3], Index: step, Scale: 4}, g)
		} else {
			LEAQ(Mem{Base: step, Index: step, Scale: uint8(n - 1)}, g)
		}
		times[n] = g
		return Mem{Base: k.val, Index: g, Scale: 1}
	}
	for r := range rows {
		k.fma(place(r), k.acc[r])
	}
	LEAQ(place(rows), k.val)
}

// masked multiplies a piece of which each row has a run of its own, or nothing. A run
// ends where the mask of the row does: its values are loaded to their lanes by counting
// from there.
func (k *kernel) masked(rows int) {
	k.loadX(false)
	for r := range rows {
		m, n, ahead := GP64(), GP64(), GP64()
		MOVBLZX(Mem{Base: k.masks, Disp: r}, m.As32())
		KMOVB(m.As32(), k.mask)
		POPCNTL(m.As32(), n.As32())
		LZCNTL(m.As32(), ahead.As32()) // 24 for the bits beyond the mask
		LEAQ(Mem{Base: k.val, Index: n, Scale: uint8(k.l.Size())}, k.val)
		k.fma(Mem{Base: k.val, Index: ahead, Scale: uint8(k.l.Size()), Disp: -(24 + mostRows) * k.l.Size()}, k.acc[r])
	}
	ADDQ(Imm(uint64(rows)), k.masks)
}

// loadX loads the elements of x for a piece: all, or those of the mask.
func (k *kernel) loadX(masked bool) {
	at := GP64()
	MOVLQSX(Mem{Base: k.columns}, at)
	from := Mem{Base: k.x, Index: at, Scale: uint8(k.l.Size())}
	switch {
	case !masked:
		k.l.Load(from, k.xs)
	case k.l.Double:
		VMOVUPD_Z(from, k.mask, k.xs)
	default:
		VMOVUPS_Z(from, k.mask, k.xs)
	}
}

// fma adds the products of the lanes of the mask. No other value is read.
func (k *kernel) fma(val Mem, acc VecVirtual) {
	if k.l.Double {
		VFMADD231PD(val, k.xs, k.mask, acc)
	} else {
		VFMADD231PS(val, k.xs, k.mask, acc)
	}
}
