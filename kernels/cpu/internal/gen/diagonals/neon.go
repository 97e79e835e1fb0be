package main

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// runNEON has the registers of a run for kernels with NEON.
type runNEON struct {
	neon.Lanes
	*neon.Function
	values           neon.Values
	perDiagonal      bool
	runs, count      neon.G // the next run, and the runs left
	slices, width    neon.G // of the run: slices left, and columns
	offsets, table   neon.G // of the pattern of the run
	offset, constant neon.G // of the column
	masks, val       neon.G // of the column
	left, t          neon.G // columns left
	at               neon.G // where the elements of a vector are that the column has; see place
	allOffsets, all  neon.G // of all patterns, and of all tables
}

// beginNEON begins a kernel with the fields of its struct of arguments. Instead of Same it has one value per diagonal.
func beginNEON(l neon.Lanes, values neon.Values, name, of string, fields []string, doc ...string) *runNEON {
	perDiagonal := values.Name == neon.Same.Name
	if perDiagonal {
		values.Name = "PerDiagonal"
	}
	f := l.Func(name+values.Name+l.Suffix(), "func(a *"+of+"[V])", doc...)
	f.Args(fields...)
	k := &runNEON{Lanes: l, Function: f, values: values, perDiagonal: perDiagonal,
		runs: f.Load("runs"), count: f.Load("count"), allOffsets: f.Load("offsets"), masks: f.Load("masks"), val: f.Load("val"),
		slices: f.G("slices"), width: f.G("width"), offsets: f.G("offsets of the run"), table: f.G("table"),
		offset: f.G("offset"), constant: f.G("constant"), left: f.G("left"), t: f.G("t"), at: f.G("at"), all: f.G("all tables")}
	f.I("MOVD", f.Field("table"), k.table)
	f.I("MOVD", k.table, k.all)
	if !perDiagonal {
		values.Begin(l, f, k.table)
	}
	l.BeginMask(f)
	l.BeginQuiet(f)
	return k
}

// columns has the code for a column: for all lanes, for those in the mask, and for lanes whose elements may not exist.
type columns struct {
	begin, end          func() // of a slice
	whole, masked, ends func()
}

// each generates the loops over runs, slices and columns.
func (k *runNEON) each(c columns) {
	k.Label("run")
	k.I("LDP", neon.Mem(k.runs, lanes.RunSlices), neon.Pair(k.slices, k.t)) // t: the pattern
	k.I("MOVD", neon.Mem(k.runs, lanes.RunWidth), k.width)
	k.I("ADD", k.t+"<<3", k.allOffsets, k.offsets)
	if k.perDiagonal {
		k.I("ADD", fmt.Sprintf("%s<<%d", k.t, k.Shift()), k.all, k.table)
	}
	k.I("MOVBU", neon.Mem(k.runs, lanes.RunEnds), k.t)
	k.I("CBNZ", k.t, "ends")
	k.I("MOVBU", neon.Mem(k.runs, lanes.RunMasked), k.t)
	k.I("CBNZ", k.t, "masked")
	k.loop("whole", c, func() {
		k.I("TBZ", "$0", k.left, "wholeEven")
		c.whole()
		k.Label("wholeEven")
		k.I("LSR", "$1", k.left, k.left)
		k.Loop("wholeColumns", k.left, func() {
			c.whole()
			c.whole()
		})
	})
	k.loop("masked", c, func() { k.Loop("maskedColumns", k.left, c.masked) })
	k.loop("ends", c, func() { k.Loop("endsColumns", k.left, c.ends) })
	k.Label("next")
	k.I("ADD", neon.Imm(lanes.RunBytes), k.runs, k.runs)
	k.I("SUBS", "$1", k.count, k.count)
	k.I("BNE", "run")
	k.Ret()
}

// loop generates the loop over the slices of a run.
func (k *runNEON) loop(name string, c columns, do func()) {
	k.Label(name)
	k.I("MOVD", k.offsets, k.offset)
	k.I("MOVD", k.table, k.constant)
	k.I("MOVD", k.width, k.left)
	c.begin()
	do()
	c.end()
	k.I("SUBS", "$1", k.slices, k.slices)
	k.I("BNE", name)
	k.I("B", "next")
}

// column returns the values of the next column.
func (k *runNEON) column() [neon.Registers]neon.V {
	if !k.perDiagonal {
		return k.values.Column(k.Lanes, k.Function, k.val)
	}
	v := k.V("same")
	k.I("VLD1R.P", neon.Mem(k.constant, k.Size()), fmt.Sprintf("[%s]", v.Of(k.Arrangement())))
	return [neon.Registers]neon.V{v, v, v, v}
}

// place sets at to the address of the elements of a vector that the next column has. base is that of the slice.
func (k *runNEON) place(base neon.G) {
	k.I("MOVD.P", neon.Mem(k.offset, 8), k.at)
	k.I("ADD", fmt.Sprintf("%s<<%d", k.at, k.Shift()), base, k.at)
}

// load loads the elements at at for all lanes.
func (k *runNEON) load(name string) [neon.Registers]neon.V {
	v := k.Slice(name)
	k.I("FLDPQ", neon.Mem(k.at, 0), neon.Pair(v[0], v[1]))
	k.I("FLDPQ", neon.Mem(k.at, 32), neon.Pair(v[2], v[3]))
	return v
}

// eachInMask runs do for each lane that is in the mask at masks; at is then the
// address of the element of the lane.
func (k *runNEON) eachInMask(do func(lane int)) {
	mask := k.G("mask")
	k.I("MOVHU", neon.Mem(k.masks, 0), mask)
	for lane := range k.SliceLanes() {
		skip := k.Unique("without")
		k.I("TBZ", neon.Imm(lane), mask, skip)
		do(lane)
		k.Label(skip)
		k.I("ADD", neon.Imm(k.Size()), k.at, k.at)
	}
}

// element returns an element of a register of a slice.
func (k *runNEON) element(of [neon.Registers]neon.V, lane int) string {
	return k.Element(of[lane/k.Count()], lane%k.Count())
}

// multiplyNEON generates a kernel that prefetches nothing and writes to y as usual.
func multiplyNEON(l neon.Lanes, values neon.Values) {
	k := beginNEON(l, values, "diagonals", "diagonalArgs",
		[]string{"runs", "count", "offsets", "masks", "val", "x", "last", "row", "table", "y", "stream", "prefetch", "alpha", "beta"},
		"computes runGeneric for successive runs, with the storage and the type in its name:",
		"",
		"\tfor every slice of a.count runs from a.runs on, with its row, its offsets and its masks:",
		"\t\tfor c, o := range offsets {",
		"\t\t\tsums[lane] += val[c*lanes+lane] * a.x[row+o+lane]  if lane is in the mask of column c",
		"\t\t}",
		"\t\ta.y[lane] = fma(a.beta, a.y[lane], a.alpha*sums[lane])",
		"",
		"PerDiagonal has the value of column c in a.table.")
	x, y, beta := k.Load("x"), k.Load("y"), k.Load("beta")
	k.Load("row")
	k.I("ADD", fmt.Sprintf("%s<<%d", k.G("row"), l.Shift()), x, x)
	if !l.Double {
		k.I("MOVWU", k.Field("beta"), beta) // the rest of the field is undefined
	}
	l.BroadcastArg(k.Function, "alpha", k.V("alpha"))
	l.BroadcastArg(k.Function, "beta", k.V("beta"))
	acc := k.Slice("acc")
	finished := 0
	k.each(columns{
		begin: func() { neon.Zero(k.Function, acc[:]...) },
		whole: func() {
			k.place(x)
			v := k.load("x")
			l.FMASlice(k.Function, k.column(), v, acc)
		},
		masked: func() {
			k.place(x)
			v, m := k.load("x"), l.Mask(k.Function, k.masks)
			l.FMAMasked(k.Function, m, k.column(), v, acc)
		},
		ends: func() {
			k.place(x)
			v := k.Slice("x")
			neon.Zero(k.Function, v[:]...)
			k.eachInMask(func(lane int) { k.I("VLD1", neon.Mem(k.at, 0), k.element(v, lane)) })
			m := l.Mask(k.Function, k.masks)
			l.FMAMasked(k.Function, m, k.column(), v, acc)
		},
		end: func() {
			finished++
			store := fmt.Sprint("store", finished)
			for _, v := range acc {
				l.Mul(k.Function, v, k.V("alpha"), v)
			}
			k.I("CBZ", beta, store)
			old := k.Slice("x")
			k.I("FLDPQ", neon.Mem(y, 0), neon.Pair(old[0], old[1]))
			k.I("FLDPQ", neon.Mem(y, 32), neon.Pair(old[2], old[3]))
			for i, v := range acc {
				l.FMA(k.Function, old[i], k.V("beta"), v)
			}
			k.Label(store)
			for _, v := range acc {
				l.Quiet(k.Function, v)
			}
			neon.StoreSlice(k.Function, acc, y)
			k.I("ADD", neon.Imm(l.Size()*l.SliceLanes()), x, x)
		},
	})
}

// transposedNEON generates a kernel of transposed products.
func transposedNEON(l neon.Lanes, values neon.Values) {
	k := beginNEON(l, values, "diagonalsTransposed", "diagonalTransposedArgs",
		[]string{"runs", "count", "offsets", "masks", "val", "y", "last", "row", "table", "x", "alpha"},
		"computes addRunGeneric for successive runs, with the storage and the type in its name:",
		"",
		"\tfor every slice of a.count runs from a.runs on, with its row, its offsets and its masks:",
		"\t\tfor c, o := range offsets {",
		"\t\t\ta.y[row+o+lane] += a.alpha*a.x[lane] * val[c*lanes+lane]  if lane is in the mask of column c",
		"\t\t}",
		"",
		"PerDiagonal has the value of column c in a.table.")
	x, y := k.Load("x"), k.Load("y")
	k.Load("row")
	k.I("ADD", fmt.Sprintf("%s<<%d", k.G("row"), l.Shift()), y, y)
	l.BroadcastArg(k.Function, "alpha", k.V("alpha"))
	factors := k.Slice("factor")
	store := func(v [neon.Registers]neon.V) {
		k.I("FSTPQ", neon.Pair(v[0], v[1]), neon.Mem(k.at, 0))
		k.I("FSTPQ", neon.Pair(v[2], v[3]), neon.Mem(k.at, 32))
	}
	k.each(columns{
		begin: func() {
			neon.LoadSlice(k.Function, x, factors)
			for _, v := range factors {
				l.Mul(k.Function, v, k.V("alpha"), v)
			}
		},
		whole: func() {
			k.place(y)
			v := k.load("y")
			l.FMASlice(k.Function, k.column(), factors, v)
			store(v)
		},
		masked: func() {
			k.place(y)
			v := k.load("y")
			m := l.Mask(k.Function, k.masks)
			l.FMAMasked(k.Function, m, k.column(), factors, v)
			store(v)
		},
		ends: func() {
			v := k.column()
			products := k.Slice("y")
			for i := range v {
				l.Mul(k.Function, v[i], factors[i], products[i])
			}
			k.place(y)
			one, sum := k.V("one"), k.V("sum")
			k.eachInMask(func(lane int) {
				k.I("VMOV", k.element(products, lane), l.Element(one, 0))
				k.I(l.One("FMOV"), neon.Mem(k.at, 0), sum)
				k.I(l.One("FADD"), one, sum, sum)
				k.I(l.One("FMOV"), sum, neon.Mem(k.at, 0))
			})
			k.I("ADD", "$2", k.masks, k.masks)
		},
		end: func() { k.I("ADD", neon.Imm(l.Size()*l.SliceLanes()), y, y) },
	})
}
