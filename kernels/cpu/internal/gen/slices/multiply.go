package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

// multiply generates a kernel of Slices with indices of indexBytes bytes.
func multiply(l lanes.Lanes, values lanes.Values, indexBytes int) {
	name := fmt.Sprintf("slices%s%d%s", values.Name, 8*indexBytes, l.Suffix())
	l.Func(name, "func(a *sliceArgs[V])",
		"computes multiplySlicesFrom for the storage, the bits of an index, the type and the level in its name:",
		"",
		"\tfor s := range a.n {",
		"\t\tacc[lane] = 0 // or a.sums[s*lanes+lane], if a.keep is -1 instead of 0",
		"\t\tfor every column c of slice s:",
		"\t\t\tacc[lane] += val[c*lanes+lane] * a.x[idx[c*lanes+lane]]  if lane is in the mask of the column",
		"\t\ta.sums[s*lanes+lane] = acc[lane] // or a.y[a.rows[s*lanes+lane]] = a.alpha*acc[lane], if a.rows is not nil",
		"\t}")
	a := lanes.Args("n", "widths", "regular", "masks", "val", "idx", "x", "table", "sums", "keep", "ahead", "step",
		"valuesAhead", "indicesAhead", "rows", "y", "alpha")
	k := &kernel{
		Lanes: l, values: values, indexBytes: indexBytes,
		n: a.Load("n"), widths: a.Load("widths"), regular: a.Load("regular"), masks: a.Load("masks"),
		val: a.Load("val"), idx: a.Load("idx"), x: a.Load("x"), sums: a.Load("sums"), ahead: a.Load("ahead"),
		mask: l.NewMask(), acc: l.Reg(), keep: l.Reg(), left: GP64(),
	}
	k.column = values.Begin(l, a.Load("table"))
	VPBROADCASTQ(a.Mem("keep"), k.keep)
	if k.gather = l.GatherFrom; l.Long && l.Double {
		k.gather = l.Merger()
	}
	k.pairs = l.Pairs()
	k.valuesAhead, k.indicesAhead = a.Load("valuesAhead"), a.Load("indicesAhead")
	rows := a.Load("rows")
	k.args = a
	TESTQ(rows, rows)
	JNZ(LabelRef("toRows"))
	a.Release()
	k.withPrefetch("far", "near")
	Label("toRows")
	k.rows = rows
	k.alpha, k.nan = k.Reg(), k.NaN()
	k.Broadcast(a.Mem("alpha"), k.alpha)
	k.withPrefetch("farRows", "nearRows")
}

// kernel has the registers of a kernel.
type kernel struct {
	lanes.Lanes
	args                                                *lanes.Arguments
	values                                              lanes.Values
	indexBytes                                          int
	n, widths, regular, masks, val, idx, x, sums, ahead Register
	valuesAhead, indicesAhead                           Register // nil without prefetching
	rows                                                Register // nil if sums are stored
	alpha, nan                                          VecVirtual
	left                                                GPVirtual
	acc, keep                                           VecVirtual
	mask                                                *lanes.Mask
	column                                              func(at Mem) Op
	gather                                              func(place func(lane int) Mem) VecVirtual
	pairs                                               func(place func(lane int) Mem) (first, second VecVirtual)
}

// withPrefetch generates two loops over all slices; the first one prefetches values and indices.
func (k *kernel) withPrefetch(far, near string) {
	values, indices := k.valuesAhead, k.indicesAhead
	TESTQ(values, values)
	JZ(LabelRef(near))
	k.slices(far)
	k.valuesAhead, k.indicesAhead = nil, nil
	k.slices(near)
	k.valuesAhead, k.indicesAhead = values, indices
}

// slices generates the loop over all slices. Labels begin with name.
func (k *kernel) slices(name string) {
	Label(name)
	TESTQ(k.n, k.n)
	JZ(LabelRef(name + "Done"))
	if k.valuesAhead != nil {
		PREFETCHT1(Mem{Base: k.ahead})
		ADDQ(k.args.Mem("step"), k.ahead)
	}
	switch {
	case k.rows != nil:
		k.Zero(k.acc)
	case k.Long:
		VPANDQ(Mem{Base: k.sums}, k.keep, k.acc)
	default:
		VANDPS(Mem{Base: k.sums}, k.keep, k.acc)
	}
	MOVL(Mem{Base: k.widths}, k.left.As32())
	TESTQ(k.regular, k.regular)
	JZ(LabelRef(name + "Full"))
	consecutive, begin, pairs := GP64(), Mem{Base: k.regular}, Mem{Base: k.regular, Disp: 2}
	MOVWLZX(begin, consecutive.As32())
	SUBQ(consecutive, k.left)
	k.loop(name+"Consecutive", consecutive, func() {
		from, b := GP64(), k.Reg()
		lanes.LoadIndex(k.indexBytes, Mem{Base: k.idx}, from)
		k.Load(Mem{Base: k.x, Index: from, Scale: uint8(k.Size())}, b)
		k.product(b, k.FMA)
	})
	CMPW(pairs, Imm(0))
	JE(LabelRef(name + "Single"))
	MOVWLZX(pairs, k.left.As32())
	k.loop(name+"Pairs", k.left, func() {
		first, second := k.pairs(k.places())
		k.product(first, k.FMA)
		k.product(second, k.FMA)
	})
	done := GP64() // there is no register for it
	MOVL(Mem{Base: k.widths}, k.left.As32())
	MOVWLZX(begin, done.As32())
	SUBQ(done, k.left)
	MOVWLZX(pairs, done.As32())
	SUBQ(done, k.left)
	SUBQ(done, k.left)
	Label(name + "Single")
	ADDQ(Imm(4), k.regular)
	Label(name + "Full")
	k.loop(name+"Each", k.left, func() { k.product(k.gather(k.places()), k.FMA) })
	MOVL(Mem{Base: k.widths, Disp: 4}, k.left.As32())
	k.loop(name+"Masked", k.left, func() {
		k.mask.Load(Mem{Base: k.masks})
		k.product(k.gather(k.places()), k.mask.FMA)
		ADDQ(Imm(2), k.masks)
	})
	if k.rows != nil {
		k.put()
	} else {
		k.Store(k.acc, Mem{Base: k.sums})
		ADDQ(Imm(uint64(k.Bytes())), k.sums)
	}
	ADDQ(Imm(8), k.widths)
	DECQ(k.n)
	JMP(LabelRef(name))
	Label(name + "Done")
	VZEROUPPER()
	RET()
}

// put stores alpha*acc in the listed rows of y and moves past these.
func (k *kernel) put() {
	k.Mul(k.acc, k.alpha, k.acc)
	k.Quiet(k.nan, k.acc)
	y := k.args.Load("y") // there is no register for it
	row := lanes.ShortIndices(func(lane int) Mem { return Mem{Base: k.rows, Disp: 2 * lane} })
	k.StoreEach(k.acc, func(lane int) Mem { return Mem{Base: y, Index: row(lane), Scale: uint8(k.Size())} })
	ADDQ(Imm(uint64(2*k.Count())), k.rows)
}

// loop generates do left times.
func (k *kernel) loop(name string, left GPVirtual, do func()) {
	TESTQ(left, left)
	JZ(LabelRef(name + "End"))
	Label(name)
	do()
	DECQ(left)
	JNZ(LabelRef(name))
	Label(name + "End")
}

// places returns the memory of the element of x for each lane of the next column.
func (k *kernel) places() func(lane int) Mem {
	index := func(lane int) Mem { return Mem{Base: k.idx, Disp: lane * k.indexBytes} }
	short := lanes.ShortIndices(index)
	return func(lane int) Mem {
		if k.indexBytes == 2 {
			return Mem{Base: k.x, Index: short(lane), Scale: uint8(k.Size())}
		}
		g := GP64()
		MOVL(index(lane), g.As32())
		return Mem{Base: k.x, Index: g, Scale: uint8(k.Size())}
	}
}

// product adds the next column times b to acc and moves past the column.
func (k *kernel) product(b VecVirtual, fma func(a Op, b, acc VecVirtual)) {
	bytes := k.values.Bytes(k.Lanes)
	if k.valuesAhead != nil {
		if bytes > 0 {
			PREFETCHT1(Mem{Base: k.val, Index: k.valuesAhead, Scale: 1})
		}
		PREFETCHT1(Mem{Base: k.idx, Index: k.indicesAhead, Scale: 1})
	}
	fma(k.column(Mem{Base: k.val}), b, k.acc)
	if bytes > 0 {
		ADDQ(Imm(uint64(bytes)), k.val)
	}
	ADDQ(Imm(uint64(k.indexBytes*k.Count())), k.idx)
}
