package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// maxVectors is the greatest number of registers of a row of y that are summed at once.
const maxVectors = 2

// kind is a way to find the row of x of an entry.
type kind struct {
	name       string
	indexBytes int  // bytes of an index; 0 if there is one offset per column
	constant   bool // one value per column
}

var (
	narrow      = kind{"Slices16", 2, false}
	wide        = kind{"Slices32", 4, false}
	diagonal    = kind{"Diagonals", 0, false}
	perDiagonal = kind{"PerDiagonal", 0, true}
)

const (
	// ahead is the number of entries of slices by which a row of x is prefetched: a multiple of the
	// lanes.
	ahead = 32
	// valuesAhead is the number of bytes by which values are prefetched.
	valuesAhead = 2048
)

// together returns the number of rows that are summed together: with two registers each they fill
// half of the registers.
func together(p lanes.Part) int {
	if p.Opmasks() {
		return 8
	}
	return 4
}

// width returns the number of lanes of a slice.
func (k *kernel) width() int {
	if k.Opmasks() {
		return 64 / k.Size()
	}
	return 32 / k.Size()
}

// kernel has the registers of a kernel. For diagonals idx has the offsets, j is the number of the
// next one, and x is the row of x at offset 0 from the first lane. ldx is the bytes from one row of
// x to the next, ldx3 three times as many.
type kernel struct {
	lanes.Part
	kind
	widths, masks, val, idx, x, ldx, order Register
	left, ldx3, j                          GPVirtual
	alpha, beta                            VecVirtual
	acc                                    [][]VecVirtual // for each lane
}

// rows generates the kernel for v registers of columns of y, the last of which may be filled in
// part. A call multiplies together lanes of each slice.
func rows(p lanes.Part, of kind, v int) {
	name := fmt.Sprintf("many%s%d%s", of.name, v, p.Suffix())
	p.Func(name, "func(a *ManyArgs[V])",
		"computes MultiplySlicesMany or MultiplyDiagonalsMany for some lanes of each slice; see ManyArgs. Its name says how",
		"it finds rows of x (indices of 16 or 32 bits, or Diagonals; PerDiagonal has one value per column) and the number",
		"of registers of columns.")
	a := lanes.Args("n", "widths", "masks", "first", "val", "idx", "x", "row", "ldx", "y", "ldy", "order", "rows", "prefetchEnd",
		"last", "reads", "stream", "near", "one", "alpha", "beta")
	k := begin(a, p, of, v)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for i := range k.acc {
		for _, a := range k.acc[i] {
			p.Zero(a)
		}
	}
	if of.indexBytes == 0 {
		XORQ(k.j, k.j)
	}
	lanes.EachColumn(func() Register { return k.widths }, k.left, "finish", k.full, k.masked)
	Label("finish")
	k.finish()
	Label("next")
	k.next()
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// begin loads the arguments that have registers.
func begin(a *lanes.Arguments, p lanes.Part, of kind, v int) *kernel {
	k := &kernel{Part: p, kind: of}
	k.widths = a.Load("widths")
	k.masks = a.Load("masks")
	k.val = a.Load("val")
	k.idx = a.Load("idx")
	k.x = a.Load("x")
	k.ldx = a.Load("ldx")
	k.order = a.Load("order")
	k.SetMask(a.Load("last"))
	k.alpha, k.beta = k.Reg(), k.Reg()
	k.Broadcast(lanes.Arg("alpha"), k.alpha)
	k.Broadcast(lanes.Arg("beta"), k.beta)
	k.left, k.ldx3, k.j = GP64(), GP64(), GP64()
	if k.indexBytes == 0 {
		t := GP64()
		MOVQ(lanes.Arg("row"), t)
		IMULQ(k.ldx, t)
		ADDQ(t, k.x)
		LEAQ(Mem{Base: k.ldx, Index: k.ldx, Scale: 2}, k.ldx3)
	}
	k.acc = make([][]VecVirtual, together(p))
	for i := range k.acc {
		for range v {
			k.acc[i] = append(k.acc[i], k.Reg())
		}
	}
	return k
}

// fma computes acc += f * register r of a row in memory.
func (k *kernel) fma(r int, m Mem, f, acc VecVirtual) {
	if r == len(k.acc[0])-1 {
		k.FMAPart(m, f, acc)
	} else {
		k.FMA(m, f, acc)
	}
}

// full adds a column in which all lanes have an entry, or three columns, or without prefetching all
// that are left.
func (k *kernel) full() {
	if k.indexBytes == 0 {
		k.addThree(k.left, "one", "full", "tail")
		Label("one")
		k.prefetchFirst("full")
	} else {
		k.ifNear("far", JEQ)
		Label("near")
		k.column("near", nil)
		DECQ(k.left)
		JNZ(LabelRef("near"))
		JMP(LabelRef("tail"))
		Label("far")
		k.prefetchSlices("full")
	}
	k.column("full", nil)
}

// ifNear jumps to a label depending on the argument near.
func (k *kernel) ifNear(to string, jump func(Op)) {
	CMPB(lanes.Arg("near"), Imm(0))
	jump(LabelRef(to))
}

// masked adds a column in which some lanes have no entry.
func (k *kernel) masked() {
	mask, first := GP64(), GP64()
	MOVWLZX(Mem{Base: k.masks}, mask.As32())
	MOVQ(lanes.Arg("first"), first)
	SHRXL(first.As32(), mask.As32(), mask.As32())
	if k.indexBytes == 0 {
		k.prefetchFirst("masked")
	} else {
		k.ifNear("maskedPrefetched", JNE)
		k.prefetchSlices("masked")
	}
	k.column("masked", mask)
	ADDQ(Imm(2), k.masks)
}

// column adds one entry of each lane, or of the lanes in mask. Labels begin with name.
func (k *kernel) column(name string, mask Register) {
	var same VecVirtual
	if k.constant {
		same = k.Reg()
		k.Broadcast(Mem{Base: k.val, Index: k.j, Scale: uint8(k.Size())}, same)
	} else if k.indexBytes == 0 {
		PREFETCHT0(Mem{Base: k.val, Disp: valuesAhead})
	}
	lane := k.lane(k.x)
	var four VecVirtual
	for i, acc := range k.acc {
		skip := fmt.Sprintf("%sLane%d", name, i)
		if mask != nil {
			if i%4 == 0 && (i > 0 || k.width() > len(k.acc)) { // rows are sorted: the last lanes often have no entry
				TESTB(Imm(uint64(0xFF<<i&0xFF)), mask.(GPVirtual).As8L())
				JEQ(LabelRef(name + "End"))
			}
			BTL(Imm(uint64(i)), mask.(GPVirtual).As32())
			JCC(LabelRef(skip))
		}
		at, f := lane(i), same
		switch {
		case k.indexBytes > 0 && mask == nil:
			if i%4 == 0 {
				four = k.Four(Mem{Base: k.val, Disp: i * k.Size()})
			}
			f = k.OneOfFour(four, i%4)
		case !k.constant:
			f = k.Reg()
			k.Broadcast(Mem{Base: k.val, Disp: i * k.Size()}, f)
		}
		for r, a := range acc {
			k.fma(r, at.Offset(r*k.Bytes()), f, a)
		}
		if mask != nil {
			Label(skip)
		}
	}
	if mask != nil {
		Label(name + "End")
	}
	if k.indexBytes > 0 {
		ADDQ(Imm(uint64(k.indexBytes*k.width())), k.idx)
	} else {
		INCQ(k.j)
	}
	if !k.constant {
		ADDQ(Imm(uint64(k.Size()*k.width())), k.val)
	}
}

// prefetchSlices prefetches later entries of slices, and the rows of x of some of them.
func (k *kernel) prefetchSlices(name string) {
	PREFETCHT0(Mem{Base: k.idx, Disp: 1024})
	PREFETCHT0(Mem{Base: k.val, Disp: valuesAhead})
	CMPQ(k.idx, lanes.Arg("prefetchEnd"))
	JAE(LabelRef(name + "Prefetched"))
	for i, acc := range k.acc {
		g := GP64()
		lanes.LoadIndex(k.indexBytes, Mem{Base: k.idx, Disp: k.indexBytes * (ahead + i)}, g)
		IMULQ(k.ldx, g)
		for line := 0; line < len(acc)*k.Bytes(); line += 64 {
			PREFETCHT0(Mem{Base: k.x, Index: g, Scale: 1, Disp: line})
		}
	}
	Label(name + "Prefetched")
}

// lane starts a column: it returns a function that returns the row of x of each lane.
func (k *kernel) lane(x Register) func(i int) Mem {
	if k.indexBytes > 0 {
		return func(i int) Mem {
			g := GP64()
			lanes.LoadIndex(k.indexBytes, Mem{Base: k.idx, Disp: k.indexBytes * i}, g)
			IMULQ(k.ldx, g)
			return Mem{Base: x, Index: g, Scale: 1}
		}
	}
	at, behind := GP64(), GP64()
	MOVQ(Mem{Base: k.idx, Index: k.j, Scale: 8}, at)
	IMULQ(k.ldx, at)
	ADDQ(x, at)
	LEAQ(Mem{Base: at, Index: k.ldx, Scale: 4}, behind)
	return func(i int) Mem {
		base := at
		if i >= 4 {
			base = behind
		}
		switch i % 4 {
		case 0:
			return Mem{Base: base}
		case 3:
			return Mem{Base: base, Index: k.ldx3, Scale: 1}
		}
		return Mem{Base: base, Index: k.ldx, Scale: uint8(i % 4)}
	}
}

// finish writes the rows of y of the lanes that have a row, and jumps to label next.
func (k *kernel) finish() {
	if k.indexBytes > 0 {
		k.overwrite("each")
		Label("each")
		k.join("lanes")
		Label("lanes")
	}
	for i, acc := range k.acc {
		CMPQ(lanes.Arg("rows"), Imm(uint64(i)))
		JLE(LabelRef("next"))
		if k.indexBytes > 0 && i == len(k.acc)-1 {
			Label(lastLane)
		}
		at := GP64()
		MOVWLZX(Mem{Base: k.order, Disp: 2 * i}, at.As32())
		IMULQ(lanes.Arg("ldy"), at)
		ADDQ(lanes.Arg("y"), at)
		k.FinishRow(fmt.Sprintf("row%d", i), at, acc, k.alpha, func(r int, m Mem, a VecVirtual) { k.fma(r, m, k.beta, a) })
	}
}

// overwrite stores all rows without a branch for each, and jumps to label next, if all lanes have a
// row. Otherwise it jumps to label each.
func (k *kernel) overwrite(each string) {
	CMPB(lanes.Arg("reads"), Imm(0))
	JNE(LabelRef(each))
	CMPB(lanes.Arg("stream"), Imm(0))
	JNE(LabelRef(each))
	CMPQ(lanes.Arg("rows"), Imm(uint64(len(k.acc))))
	JL(LabelRef(each))
	if !k.Opmasks() { // masked stores are slow
		CMPQ(lanes.Arg("last"), Imm(uint64(k.Count())))
		JNE(LabelRef(each))
	}
	y, ldy := GP64(), GP64()
	MOVQ(lanes.Arg("y"), y)
	MOVQ(lanes.Arg("ldy"), ldy)
	for i, acc := range k.acc {
		at := GP64()
		MOVWLZX(Mem{Base: k.order, Disp: 2 * i}, at.As32())
		IMULQ(ldy, at)
		for r, a := range acc {
			k.Mul(k.alpha, a, a)
			to := Mem{Base: y, Index: at, Scale: 1, Disp: r * k.Bytes()}
			if r == len(acc)-1 && k.Opmasks() {
				k.StorePart(a, to)
			} else {
				k.Store(a, to)
			}
		}
	}
	JMP(LabelRef("next"))
}

// join adds the sums of all lanes to those of the last lane and jumps there, if they are one row.
// Otherwise it jumps to label lanesApart.
func (k *kernel) join(lanesApart string) {
	CMPB(lanes.Arg("one"), Imm(0))
	JEQ(LabelRef(lanesApart))
	n := len(k.acc)
	for half := 1; half < n; half *= 2 {
		for i := n - 1; i >= half; i -= 2 * half {
			for r, a := range k.acc[i] {
				k.Add(k.acc[i-half][r], a, a)
			}
		}
	}
	JMP(LabelRef(lastLane))
}

// lastLane is the label at which the last lane is finished.
const lastLane = "lastLane"

// next moves to the next slice.
func (k *kernel) next() {
	ADDQ(Imm(uint64(2*k.width())), k.order)
	SUBQ(Imm(uint64(k.width())), lanes.Arg("rows"))
	if k.indexBytes > 0 {
		ADDQ(Imm(8), k.widths)
	} else { // the row of x at offset 0 of the next slice
		t := GP64()
		IMUL3Q(Imm(uint64(k.width())), k.ldx, t)
		ADDQ(t, k.x)
	}
	DECQ(lanes.Arg("n"))
}
