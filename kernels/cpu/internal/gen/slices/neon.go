package main

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// multiplyNEON generates a kernel of Slices with indices of indexBytes bytes. It prefetches nothing.
func multiplyNEON(l neon.Lanes, values neon.Values, indexBytes int) {
	f := l.Func(fmt.Sprintf("slices%s%d%s", values.Name, 8*indexBytes, l.Suffix()), "func(a *sliceArgs[V])",
		"computes multiplySlicesFrom for the storage, the bits of an index and the type in its name:",
		"",
		"\tfor s := range a.n {",
		"\t\tacc[lane] = 0 // or a.sums[s*lanes+lane], if a.keep is -1 instead of 0",
		"\t\tfor every column c of slice s:",
		"\t\t\tacc[lane] += val[c*lanes+lane] * a.x[idx[c*lanes+lane]]  if lane is in the mask of the column",
		"\t\ta.sums[s*lanes+lane] = acc[lane] // or a.y[a.rows[s*lanes+lane]] = a.alpha*acc[lane], if a.rows is not nil",
		"\t}")
	f.Args("n", "widths", "regular", "masks", "val", "idx", "x", "table", "sums", "keep", "ahead", "step",
		"valuesAhead", "indicesAhead", "rows", "y", "alpha")
	n, widths, regular, masks := f.Load("n"), f.Load("widths"), f.Load("regular"), f.Load("masks")
	val, idx, x, sums, keep, rows := f.Load("val"), f.Load("idx"), f.Load("x"), f.Load("sums"), f.Load("keep"), f.Load("rows")
	y, table := f.Load("y"), f.Load("table")
	full, masked, t := f.G("full"), f.G("masked"), f.G("t")
	acc := f.Slice("acc")
	values.Begin(l, f, table)
	neon.BeginGather(f, indexBytes)
	l.BeginMask(f)
	l.BeginQuiet(f)
	l.BroadcastArg(f, "alpha", f.V("alpha"))

	f.Label("slice")
	f.I("LDPW.P", neon.Mem(widths, 8), neon.Pair(full, masked))
	neon.Zero(f, acc[:]...)
	f.I("CBZ", keep, "begun")
	f.I("FLDPQ", neon.Mem(sums, 0), neon.Pair(acc[0], acc[1]))
	f.I("FLDPQ", neon.Mem(sums, 32), neon.Pair(acc[2], acc[3]))
	f.Label("begun")
	f.I("CBZ", regular, "full")

	// Consecutive columns: the elements of x are too. Pairs are multiplied as other full columns.
	consecutive := f.G("two")
	f.I("MOVHU.P", neon.Mem(regular, 4), consecutive)
	f.I("SUB", consecutive, full, full)
	f.Loop("consecutive", consecutive, func() {
		if indexBytes == 2 {
			f.I("MOVHU.P", neon.Mem(idx, 2*l.SliceLanes()), t)
		} else {
			f.I("MOVWU.P", neon.Mem(idx, 4*l.SliceLanes()), t)
		}
		f.I("ADD", fmt.Sprintf("%s<<%d", t, l.Shift()), x, t)
		v := f.Slice("x")
		neon.LoadSlice(f, t, v)
		l.FMASlice(f, values.Column(l, f, val), v, acc)
	})

	f.Label("full")
	column := func() { l.FMASlice(f, values.Column(l, f, val), l.Gather(f, idx, x, indexBytes), acc) }
	two := f.G("two")
	f.I("TBZ", "$0", full, "even")
	column()
	f.Label("even")
	f.I("LSR", "$1", full, two)
	f.Loop("two", two, func() {
		column()
		column()
	})
	f.Loop("masked", masked, func() {
		m := l.Mask(f, masks)
		l.FMAMasked(f, m, values.Column(l, f, val), l.Gather(f, idx, x, indexBytes), acc)
	})

	f.I("CBNZ", rows, "rows")
	neon.StoreSlice(f, acc, sums)
	f.Label("next")
	f.I("SUBS", "$1", n, n)
	f.I("BNE", "slice")
	f.Ret()

	f.Label("rows")
	for lane := range l.SliceLanes() {
		v, element := acc[lane/l.Count()], lane%l.Count()
		if element == 0 {
			l.Mul(f, v, f.V("alpha"), v)
			l.Quiet(f, v)
		}
		if lane == 0 {
			f.I("MOVHU.P", neon.Mem(rows, 2*l.SliceLanes()), t)
		} else {
			f.I("MOVHU", neon.Mem(rows, 2*(lane-l.SliceLanes())), t)
		}
		if element == 0 {
			f.I(l.One("FMOV"), v, neon.At(y, t, l.Shift()))
		} else {
			f.I("ADD", fmt.Sprintf("%s<<%d", t, l.Shift()), y, t)
			f.I("VST1", l.Element(v, element), neon.Mem(t, 0))
		}
	}
	f.I("B", "next")
}

// transposedNEON generates a kernel of transposed products of Slices with indices of indexBytes bytes. It prefetches
// nothing.
func transposedNEON(l neon.Lanes, values neon.Values, indexBytes int) {
	f := l.Func(fmt.Sprintf("slicesTransposed%s%d%s", values.Name, 8*indexBytes, l.Suffix()), "func(a *sliceTransposedArgs[V])",
		"computes AddSlicesTransposed with after = 1 for the storage, the bits of an index and the type in its name:",
		"",
		"\tfor every column c of every slice s of a.n:",
		"\t\ta.y[idx[c*lanes+lane]-a.first] += val[c*lanes+lane] * a.factors[s*lanes+lane]  if lane is in the mask of the column")
	f.Args("n", "widths", "masks", "val", "idx", "table", "factors", "y", "first", "prefetchColumns", "products")
	n, widths, masks, val, idx := f.Load("n"), f.Load("widths"), f.Load("masks"), f.Load("val"), f.Load("idx")
	factors, y, first := f.Load("factors"), f.Load("y"), f.Load("first")
	f.Load("table")
	f.I("SUB", fmt.Sprintf("%s<<%d", first, l.Shift()), y, y)
	values.Begin(l, f, f.G("table"))
	full, masked, mask := f.G("full"), f.G("masked"), f.G("mask")
	factor := make([]neon.V, l.SliceLanes())
	for lane := range factor {
		factor[lane] = f.V(fmt.Sprint("factor", lane))
	}
	index := [2]neon.G{f.G("index0"), f.G("index1")}
	column := func(masked bool) {
		for lane := range l.SliceLanes() {
			at, move := indexBytes*(lane-l.SliceLanes()), ""
			if lane == 0 {
				at, move = indexBytes*l.SliceLanes(), ".P"
			}
			switch {
			case indexBytes == 2:
				f.I("MOVHU"+move, neon.Mem(idx, at), index[lane%2])
			case lane%2 == 0:
				f.I("LDPW"+move, neon.Mem(idx, at), neon.Pair(index[0], index[1]))
			}
			value, skip := values.One(l, f, val, lane), ""
			if masked {
				skip = f.Unique("without")
				f.I("TBZ", neon.Imm(lane), mask, skip)
			}
			place, sum := neon.At(y, index[lane%2], l.Shift()), f.V("sum")
			f.I(l.One("FMOV"), place, sum)
			f.I(l.One("FMADD"), value, sum, factor[lane], sum)
			f.I(l.One("FMOV"), sum, place)
			if masked {
				f.Label(skip)
			}
		}
	}

	f.Label("slice")
	f.I("LDPW.P", neon.Mem(widths, 8), neon.Pair(full, masked))
	for lane := 0; lane < len(factor); lane += 2 {
		f.I(l.One("FLDP")+".P", neon.Mem(factors, 2*l.Size()), neon.Pair(factor[lane], factor[lane+1]))
	}
	f.Loop("full", full, func() { column(false) })
	f.Loop("masked", masked, func() {
		f.I("MOVHU.P", neon.Mem(masks, 2), mask)
		column(true)
	})
	f.I("SUBS", "$1", n, n)
	f.I("BNE", "slice")
	f.Ret()
}
