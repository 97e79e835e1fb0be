package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// most is the greatest number of adjacent diagonals that are summed in registers, as in transposed
// products.
const most = 3

// aheadBytes is the number of bytes by which values are prefetched: a slice has so many
// instructions that out-of-order execution loads the next values too late. They go to the
// second-level cache: the first-level cache waits for few lines at a time.
const aheadBytes = 8192

// kernel is one kernel of diagonals.
type kernel struct {
	l           lanes.Lanes
	alpha, beta VecVirtual
	factors     VecVirtual // x of the rows of the slice
	acc         VecVirtual // sums of the rows of the slice
	mask        *lanes.Mask

	n, masks, offsets, val, x, own, y Register
	j, carry                          Register // the column, and its carry
	atX, atY, left, distance          Register
}

// diagonals generates a kernel. Diagonals that reach rows of the same slice are near and come last.
// Products that they add to rows before the slice are in the register before it; products that they
// add to the slice itself stay in carries until it is stored.
func diagonals(l lanes.Lanes) {
	name := "symmetricDiagonals" + l.Suffix()
	l.Func(name, "func(runs *int, count int, offsets *int64, far, before, diagonal int, masks *uint16, val, x, own, y *V, alpha, beta V, carries *V)",
		"computes symmetricSlices.multiplyTwice for count runs, except for the last products of each diagonal, which it leaves in carries:",
		"",
		"\tfor every row r, and each entry at offset o:",
		"\t\town[r] += alpha * value * x[r+o]",
		"\t\ty[r+o] += alpha * value * x[r]  if o < 0",
		"",
		"own[r] starts with beta*own[r].")

	k := &kernel{l: l, alpha: l.Reg(), beta: l.Reg(), factors: l.Reg(), acc: l.Reg(), mask: l.NewMask(), n: GP64(),
		j: GP64(), carry: GP64(), atX: GP64(), atY: GP64(), left: GP64(), distance: GP64()}
	k.offsets = Load(Param("offsets"), GP64())
	k.masks = Load(Param("masks"), GP64())
	k.val = Load(Param("val"), GP64())
	k.x = Load(Param("x"), GP64())
	k.own = Load(Param("own"), GP64())
	k.y = Load(Param("y"), GP64())
	l.Broadcast(lanes.Arg("alpha"), k.alpha)
	l.Broadcast(lanes.Arg("beta"), k.beta)

	Label("run")
	MOVQ(lanes.Arg("runs"), k.left)
	MOVQ(Mem{Base: k.left, Disp: lanes.RunSlices}, k.n)
	CMPB(Mem{Base: k.left, Disp: lanes.RunMasked}, Imm(0))
	JNE(LabelRef("maskedSlice"))
	k.slices("", false)
	k.slices("masked", true)
	Label("next")
	ADDQ(Imm(lanes.RunBytes), lanes.Arg("runs"))
	DECQ(lanes.Arg("count"))
	JNZ(LabelRef("run"))
	VZEROUPPER()
	RET()
}

// slices multiplies the slices of a run, at least one. Labels begin with name.
func (k *kernel) slices(name string, masked bool) {
	label := func(s string) string {
		if name == "" {
			return s
		}
		return name + string(s[0]-'a'+'A') + s[1:]
	}
	l := k.l
	Label(label("slice"))
	l.Load(Mem{Base: k.x}, k.factors)
	l.Zero(k.acc)
	XORQ(k.j, k.j)
	MOVQ(lanes.Arg("carries"), k.carry)
	k.far(label, masked)
	k.near(label, masked)

	Label(label("diagonal"))
	CMPQ(lanes.Arg("diagonal"), Imm(0))
	JE(LabelRef(label("finish")))
	MOVQ(k.x, k.atX)
	k.direct(0, masked)
	k.next(1, masked)
	Label(label("finish"))
	l.Mul(k.alpha, k.acc, k.acc)
	l.IsZero(lanes.Arg("beta"))
	JE(LabelRef(label("store")))
	l.FMA(Mem{Base: k.own}, k.beta, k.acc)
	Label(label("store"))
	l.Store(k.acc, Mem{Base: k.own})
	for _, p := range []Register{k.x, k.y, k.own} {
		ADDQ(Imm(uint64(l.Bytes())), p)
	}
	DECQ(k.n)
	JNZ(LabelRef(label("slice")))
	JMP(LabelRef("next"))
}

// far multiplies the diagonals that reach only rows before the slice.
func (k *kernel) far(label func(string) string, masked bool) {
	l := k.l
	Label(label("far"))
	CMPQ(k.j, lanes.Arg("far"))
	JGE(LabelRef(label("near")))
	MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, k.distance)
	LEAQ(Mem{Base: k.x, Index: k.distance, Scale: uint8(l.Size())}, k.atX)
	LEAQ(Mem{Base: k.y, Index: k.distance, Scale: uint8(l.Size())}, k.atY)
	MOVQ(lanes.Arg("far"), k.left)
	SUBQ(k.j, k.left)
	for count := most; count > 0; count-- {
		fewer := label(fmt.Sprintf("fewerThan%d", count))
		if count > 1 {
			CMPQ(k.left, Imm(uint64(count)))
			JL(LabelRef(fewer))
			MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8, Disp: 8 * (count - 1)}, k.distance)
			SUBQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, k.distance)
			CMPQ(k.distance, Imm(uint64(count-1)))
			JNE(LabelRef(fewer))
		}
		sum := k.product(k.direct(0, masked), masked)
		for i := 1; i < count; i++ {
			before := Mem{Base: k.carry, Disp: i * l.Bytes()}
			product, moved := k.product(k.direct(i, masked), masked), l.Reg()
			l.ShiftUp(before, product, i, moved)
			l.Store(product, before)
			l.Add(moved, sum, sum)
		}
		k.add(sum, Mem{Base: k.atY})
		k.next(count, masked)
		JMP(LabelRef(label("far")))
		if count > 1 {
			Label(fewer)
		}
	}
}

// near multiplies the diagonals that reach rows of the slice.
func (k *kernel) near(label func(string) string, masked bool) {
	l := k.l
	Label(label("near"))
	CMPQ(k.j, lanes.Arg("before"))
	JGE(LabelRef(label("diagonal")))
	sum := l.Reg()
	l.Zero(sum)
	Label(label("nearColumn"))
	MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, k.distance)
	LEAQ(Mem{Base: k.x, Index: k.distance, Scale: uint8(l.Size())}, k.atX)
	NEGQ(k.distance)
	product, moved := k.product(k.direct(0, masked), masked), l.Reg()
	k.ahead(product, moved)
	l.Store(product, Mem{Base: k.carry})
	l.Add(moved, sum, sum)
	k.next(1, masked)
	CMPQ(k.j, lanes.Arg("before"))
	JL(LabelRef(label("nearColumn")))
	k.add(sum, Mem{Base: k.y, Disp: -l.Bytes()})
}

// ahead sets moved to the lanes from distance on of the previous product and this one.
func (k *kernel) ahead(product, moved VecVirtual) {
	l := k.l
	if !l.Long {
		l.ShiftDown(product, Mem{Base: k.carry}, k.distance, moved)
		return
	}
	before := l.Reg()
	LEAQ(NewDataAddr(Symbol{Name: "lanes" + l.Suffix(), Static: true}, 0), k.left)
	l.Load(Mem{Base: k.left, Index: k.distance, Scale: uint8(l.Size())}, moved)
	l.Load(Mem{Base: k.carry}, before)
	lanes.Pick(l, VPERMI2PD, VPERMI2PS)(product, before, moved)
}

// add adds alpha*sum to an element of y.
func (k *kernel) add(sum VecVirtual, to Mem) {
	y := k.l.Reg()
	k.l.Load(to, y)
	k.l.FMA(sum, k.alpha, y)
	k.l.Store(y, to)
}

// direct adds the products of column j+i for its rows, and returns its values.
func (k *kernel) direct(i int, masked bool) VecVirtual {
	v, x := k.l.Reg(), Mem{Base: k.atX, Disp: i * k.l.Size()}
	k.l.Load(Mem{Base: k.val, Disp: i * k.l.Bytes()}, v)
	PREFETCHT1(Mem{Base: k.val, Disp: aheadBytes + i*k.l.Bytes()})
	if !masked {
		k.l.FMA(x, v, k.acc)
		return v
	}
	in := k.l.Reg()
	k.mask.Load(Mem{Base: k.masks, Disp: 2 * i})
	k.mask.LoadLanes(x, in)
	k.l.FMA(in, v, k.acc)
	return v
}

// product returns values times factors, 0 where there is no entry.
func (k *kernel) product(v VecVirtual, masked bool) VecVirtual {
	product := k.l.Reg()
	if masked {
		k.mask.Mul(v, k.factors, product)
	} else {
		k.l.Mul(v, k.factors, product)
	}
	return product
}

// next moves count columns on.
func (k *kernel) next(count int, masked bool) {
	ADDQ(Imm(uint64(count*k.l.Bytes())), k.val)
	ADDQ(U32(count*k.l.Bytes()), k.carry)
	ADDQ(Imm(uint64(count)), k.j)
	if masked {
		ADDQ(Imm(uint64(2*count)), k.masks)
	}
}
