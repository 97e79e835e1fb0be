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
	for _, l := range []lanes.Lanes{{Double: true, Long: true}, {}} {
		for _, one := range []bool{false, true} {
			straight(l, one)
			transposed(l, one)
		}
	}
	Generate()
}

// kernel is one kernel: of eight lanes, in 512 bits for float64 and 256 for float32.
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
	mask       OpmaskVirtual
}

func straight(l lanes.Lanes, one bool) {
	name := name("runs", l, one)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *%s)", l.Type()))
	Pragma("noescape")
	Doc(name + " is MultiplyRuns for the case in its name.")
	k := &kernel{l: l, x: Load(Param("x"), GP64()), rows: Load(Param("sums"), GP64())}
	k.groups(one)
}

func transposed(l lanes.Lanes, one bool) {
	name := name("runsTransposed", l, one)
	TEXT(name, NOSPLIT, fmt.Sprintf("func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *%s, first int)", l.Type()))
	Pragma("noescape")
	Doc(name+" is AddRunsTransposed for the case in its name. y begins with", "element first.")
	k := &kernel{l: l, transposed: true, x: Load(Param("y"), GP64()), rows: Load(Param("factors"), GP64())}
	first := Load(Param("first"), GP64())
	SHLQ(Imm(k.shift()), first)
	SUBQ(first, k.x)
	k.groups(one)
}

func name(of string, l lanes.Lanes, one bool) string {
	if one {
		of += "One"
	}
	return fmt.Sprintf("%sF%dAVX512", of, 8*l.Size())
}

// shift is the logarithm of the bytes of an element.
func (k *kernel) shift() uint64 { return uint64(bits.TrailingZeros(uint(k.l.Size()))) }

// groups goes through all groups. one says that all values are the first.
func (k *kernel) groups(one bool) {
	k.left, k.xs, k.mask = GP64(), k.l.Reg(), K()
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
	acc := slices.Clone(k.acc[:rows])
	for i, a := range acc {
		if k.transposed {
			k.l.Broadcast(Mem{Base: k.rows, Disp: i * k.l.Size()}, a)
		} else {
			k.l.Zero(a)
		}
	}
	TESTQ(k.left, k.left)
	JZ(LabelRef(fmt.Sprintf("end%d", kind)))
	Label(fmt.Sprintf("piece%d", kind))
	piece(rows)
	ADDQ(Imm(4), k.columns)
	DECQ(k.left)
	JNZ(LabelRef(fmt.Sprintf("piece%d", kind)))
	Label(fmt.Sprintf("end%d", kind))
	if !k.transposed {
		if k.one != nil && kind > 0 {
			for i := range acc {
				acc[i] = acc[0]
			}
		}
		k.store(acc)
	}
	ADDQ(Imm(uint64(rows*k.l.Size())), k.rows)
	JMP(LabelRef("group"))
}

// same multiplies a piece that all rows have.
func (k *kernel) same(rows int) {
	if k.one != nil {
		k.sameOne(rows)
		return
	}
	m, step := GP64(), GP64()
	MOVBLZX(Mem{Base: k.masks}, m.As32())
	INCQ(k.masks)
	KMOVB(m.As32(), k.mask)
	POPCNTL(m.As32(), step.As32())
	SHLQ(Imm(k.shift()), step) // bytes of a row of the piece
	x := k.elements()
	k.move(x, k.xs, true)
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
	if k.transposed {
		k.move(k.xs, x, true)
	}
}

// sameOne is same for one value: all rows have the same sum, which is that of the first.
func (k *kernel) sameOne(rows int) {
	KMOVB(Mem{Base: k.masks}, k.mask)
	INCQ(k.masks)
	x := k.elements()
	k.move(x, k.xs, true)
	if !k.transposed {
		k.fma(k.one, k.acc[0])
		return
	}
	for _, factor := range k.acc[:rows] {
		k.fma(k.one, factor)
	}
	k.move(k.xs, x, true)
}

// masked multiplies a piece of which each row has a run of its own, or nothing. A run
// ends where the mask of the row does: its values are loaded to their lanes by counting
// from there.
func (k *kernel) masked(rows int) {
	x := k.elements()
	k.move(x, k.xs, false)
	for r := range rows {
		if k.one != nil {
			KMOVB(Mem{Base: k.masks, Disp: r}, k.mask)
			k.fma(k.one, k.acc[r])
			continue
		}
		m, n, ahead := GP64(), GP64(), GP64()
		MOVBLZX(Mem{Base: k.masks, Disp: r}, m.As32())
		KMOVB(m.As32(), k.mask)
		POPCNTL(m.As32(), n.As32())
		LZCNTL(m.As32(), ahead.As32()) // 24 for the bits beyond the mask
		LEAQ(Mem{Base: k.val, Index: n, Scale: uint8(k.l.Size())}, k.val)
		k.fma(Mem{Base: k.val, Index: ahead, Scale: uint8(k.l.Size()), Disp: -(24 + mostRows) * k.l.Size()}, k.acc[r])
	}
	ADDQ(Imm(uint64(rows)), k.masks)
	if k.transposed {
		k.move(k.xs, x, false)
	}
}

// elements is where the elements of x or y for a piece begin.
func (k *kernel) elements() Mem {
	at := GP64()
	MOVLQSX(Mem{Base: k.columns}, at)
	return Mem{Base: k.x, Index: at, Scale: uint8(k.l.Size())}
}

// move loads or stores elements: all, or those of the mask.
func (k *kernel) move(from, to Op, masked bool) {
	_, store := to.(Mem)
	switch {
	case !masked && k.l.Double:
		VMOVUPD(from, to)
	case !masked:
		VMOVUPS(from, to)
	case store && k.l.Double:
		VMOVUPD(from, k.mask, to)
	case store:
		VMOVUPS(from, k.mask, to)
	case k.l.Double:
		VMOVUPD_Z(from, k.mask, to)
	default:
		VMOVUPS_Z(from, k.mask, to)
	}
}

// fma adds the products of the lanes of the mask to the sum of a row, or those of its
// factor to the elements of y. No other value is read.
func (k *kernel) fma(val Op, row VecVirtual) {
	by, to := k.xs, row
	if k.transposed {
		by, to = row, k.xs
	}
	if k.l.Double {
		VFMADD231PD(val, by, k.mask, to)
	} else {
		VFMADD231PS(val, by, k.mask, to)
	}
}
