package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// fewKernel has the registers of a kernel of few vectors.
type fewKernel struct {
	lanes.Lanes
	masks, val, offsets, x, y Register
	alpha, beta               VecVirtual
	order, acc                []VecVirtual // for each register of a column
	width, j, at, mask        GPVirtual
	every                     GPVirtual // bits: the first element of each row
}

// few generates the kernel that multiplies by vectors vectors at once: fewer than fill a register,
// with contiguous rows of x and y. The rows of x for a column of a slice fill vectors
// registers; a permutation copies to each the values of its elements.
func few(l lanes.Lanes, vectors int) {
	name := fmt.Sprintf("few%d%s", vectors, l.Suffix())
	order := l.Define(name+"Order", vectors*l.Count(), func(i int) uint64 { return uint64(i / vectors) }) // lane of each element
	l.Func(name, "func(a *fewArgs[V])",
		"computes MultiplyDiagonalsMany for slices that have all rows and the number of vectors in its name:",
		"",
		"\tfor every slice of a.n, from a.row on:",
		"\t\tfor c := range a.width {",
		"\t\t\tsums[lane][j] += a.val[c*lanes+lane] * a.x[row+lane+a.offsets[c]][j]  if lane is in the mask of column c",
		"\t\t}",
		"\t\ta.y[lane][j] = a.alpha*sums[lane][j] + a.beta*a.y[lane][j]")
	a := lanes.Args("n", "width", "masks", "val", "offsets", "x", "row", "y", "reads", "stream", "alpha", "beta")
	k := beginFew(a, l, order, vectors)

	Label("slice")
	CMPQ(lanes.Arg("n"), Imm(0))
	JEQ(LabelRef("done"))
	for _, a := range k.acc {
		l.Zero(a)
	}
	XORQ(k.j, k.j)
	JMP(LabelRef("next"))
	Label("column")
	k.column(false)
	Label("next")
	CMPQ(k.j, k.width)
	JGE(LabelRef("finish"))
	TESTQ(k.masks, k.masks)
	JZ(LabelRef("column"))
	MOVWLZX(Mem{Base: k.masks}, k.mask.As32())
	ADDQ(Imm(2), k.masks)
	PDEPQ(k.every, k.mask, k.mask)
	IMUL3Q(Imm(1<<vectors-1), k.mask, k.mask) // each bit for all elements of its row
	k.column(true)
	JMP(LabelRef("next"))

	Label("finish")
	k.finish()
	ADDQ(U32(vectors*l.Bytes()), k.x)
	ADDQ(U32(vectors*l.Bytes()), k.y)
	DECQ(lanes.Arg("n"))
	JMP(LabelRef("slice"))
	Label("done")
	VZEROUPPER()
	RET()
}

// beginFew loads the arguments that have registers, and the order.
func beginFew(a *lanes.Arguments, l lanes.Lanes, order Mem, vectors int) *fewKernel {
	k := &fewKernel{Lanes: l}
	k.masks = a.Load("masks")
	k.val = a.Load("val")
	k.offsets = a.Load("offsets")
	k.x, k.y = a.Load("x"), a.Load("y")
	k.alpha, k.beta = l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("alpha"), k.alpha)
	l.Broadcast(lanes.Arg("beta"), k.beta)
	for r := range vectors {
		k.order, k.acc = append(k.order, l.Reg()), append(k.acc, l.Reg())
		l.Load(order.Offset(r*l.Bytes()), k.order[r])
	}
	k.width, k.j, k.at, k.mask, k.every = GP64(), GP64(), GP64(), GP64(), GP64()
	IMUL3Q(U32(vectors*l.Size()), a.Mem("row"), k.at)
	ADDQ(k.at, k.x)
	MOVQ(lanes.Arg("width"), k.width)
	first := uint64(0)
	for i := range l.Count() {
		first |= 1 << (i * vectors)
	}
	MOVQ(U64(first), k.every)
	return k
}

// column adds the products of a column; with masked, only of the elements in the mask.
func (k *fewKernel) column(masked bool) {
	vectors := len(k.acc)
	MOVQ(Mem{Base: k.offsets, Index: k.j, Scale: 8}, k.at)
	IMUL3Q(Imm(uint64(vectors*k.Size())), k.at, k.at)
	ADDQ(k.x, k.at)
	v := k.Reg()
	k.Load(Mem{Base: k.val}, v)
	PREFETCHT0(Mem{Base: k.val, Disp: aheadBytes})
	for r, a := range k.acc {
		f, m := k.Reg(), Mem{Base: k.at, Disp: r * k.Bytes()}
		lanes.Pick(k.Lanes, VPERMPD, VPERMPS)(v, k.order[r], f)
		if !masked {
			k.FMA(m, f, a)
			continue
		}
		part := K()
		KMOVW(k.mask.As32(), part)
		if r+1 < vectors {
			SHRQ(Imm(uint64(k.Count())), k.mask)
		}
		k.FMAMasked(m, f, part, a)
	}
	ADDQ(Imm(uint64(k.Bytes())), k.val)
	INCQ(k.j)
}

// finish writes the rows of y of a slice.
func (k *fewKernel) finish() {
	place := func(r int) Mem { return Mem{Base: k.y, Disp: r * k.Bytes()} }
	for _, a := range k.acc {
		k.Mul(k.alpha, a, a)
	}
	CMPB(lanes.Arg("reads"), Imm(0))
	JEQ(LabelRef("overwrite"))
	for r, a := range k.acc {
		k.FMA(place(r), k.beta, a)
	}
	Label("overwrite")
	CMPB(lanes.Arg("stream"), Imm(0))
	JNE(LabelRef("stream"))
	for r, a := range k.acc {
		k.Store(a, place(r))
	}
	JMP(LabelRef("end"))
	Label("stream")
	for r, a := range k.acc {
		k.Stream(a, place(r))
	}
	Label("end")
}
