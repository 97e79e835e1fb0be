package main

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// neonRows has the registers that the kernels of rows share.
type neonRows struct {
	neon.Lanes
	*neon.Function
	ptr, idx, val, x, y neon.G
	n                   neon.G // elements of x
	rows                neon.G // rows left
	end                 neon.G // number of entries
	base, from          neon.G // ptr[0], and the first entry of the next row
	checked             neon.G // entries whose indices are checked
	count, t, i, j      neon.G
	sums                []neon.V
	first               neon.V // what is subtracted from each index before it is checked
	hasFirst            bool
}

// atOnce is the number of entries whose indices are checked before they are used. They stay in the first-level
// cache meanwhile.
const atOnce = 2048

// beginNEON names the registers, of which the caller sets ptr, idx, val, x, y, n, rows and end.
func beginNEON(l neon.Lanes, f *neon.Function, sums int) *neonRows {
	k := &neonRows{Lanes: l, Function: f, ptr: f.G("ptr"), idx: f.G("idx"), val: f.G("val"), x: f.G("x"), y: f.G("y"),
		n: f.G("n"), rows: f.G("rows"), end: f.G("end"), base: f.G("base"), from: f.G("from"), checked: f.G("checked"),
		count: f.G("count"), t: f.G("t"), i: f.G("i"), j: f.G("j")}
	for i := range sums {
		k.sums = append(k.sums, f.V(string(rune('a'+i))))
	}
	return k
}

// each generates a loop over the rows. It jumps to out at the first row with a pointer or an index out of range:
// rows are left there, including that one. row gets count entries at idx and val.
func (k *neonRows) each(row func()) {
	k.I("MOVD.P", neon.Mem(k.ptr, 8), k.base)
	k.I("MOVD", "ZR", k.from)
	k.I("MOVD", "ZR", k.checked)
	k.I("CBZ", k.rows, "out")
	k.Label("row")
	k.I("MOVD.P", neon.Mem(k.ptr, 8), k.t)
	k.I("SUB", k.base, k.t, k.t)
	k.I("SUBS", k.from, k.t, k.count)
	k.I("BLT", "out")
	k.I("CMP", k.checked, k.t)
	k.I("BGT", "check")
	k.Label("sum")
	k.I("MOVD", k.t, k.from)
	row()
	k.I("SUBS", "$1", k.rows, k.rows)
	k.I("BNE", "row")
	k.Label("out")
}

// sumRow adds count entries, in turn to the sums, and sets sums[0] to the sum of these.
func (k *neonRows) sumRow() {
	n := len(k.sums)
	k.I("VEOR", k.sums[0].Of("B16"), k.sums[0].Of("B16"), k.sums[0].Of("B16"))
	k.I("LSR", "$2", k.count, k.t)
	k.I("CBZ", k.t, "last")
	for _, s := range k.sums[1:] {
		k.I("VEOR", s.Of("B16"), s.Of("B16"), s.Of("B16"))
	}
	k.Label("four")
	k.four(func(i int, index neon.G, value neon.V) { k.add(index, value, k.sums[i%n]) })
	k.I("SUBS", "$1", k.t, k.t)
	k.I("BNE", "four")
	switch n {
	case 4:
		k.I(k.One("FADD"), k.sums[1], k.sums[0], k.sums[0])
		k.I(k.One("FADD"), k.sums[3], k.sums[2], k.sums[2])
		k.I(k.One("FADD"), k.sums[2], k.sums[0], k.sums[0])
	case 2:
		k.I(k.One("FADD"), k.sums[1], k.sums[0], k.sums[0])
	}
	k.Label("last")
	k.last(func(index neon.G, value neon.V) { k.add(index, value, k.sums[0]) })
}

// four calls do for each of the next four entries.
func (k *neonRows) four(do func(i int, index neon.G, value neon.V)) {
	indices := [4]neon.G{k.i, k.j, k.G("third"), k.G("fourth")}
	values := [4]neon.V{k.V("v0"), k.V("v1"), k.V("v2"), k.V("v3")}
	k.I("LDPW.P", neon.Mem(k.idx, 16), neon.Pair(indices[0], indices[1]))
	k.I("LDPW", neon.Mem(k.idx, -8), neon.Pair(indices[2], indices[3]))
	k.I(k.One("FLDP")+".P", neon.Mem(k.val, 4*k.Size()), neon.Pair(values[0], values[1]))
	k.I(k.One("FLDP"), neon.Mem(k.val, -2*k.Size()), neon.Pair(values[2], values[3]))
	for i := range 4 {
		do(i, indices[i], values[i])
	}
}

// last calls do for the entries that are left when four have been done at a time.
func (k *neonRows) last(do func(index neon.G, value neon.V)) {
	a, b := k.V("v0"), k.V("v1")
	k.I("TBZ", "$1", k.count, "one")
	k.I("LDPW.P", neon.Mem(k.idx, 8), neon.Pair(k.i, k.j))
	k.I(k.One("FLDP")+".P", neon.Mem(k.val, 2*k.Size()), neon.Pair(a, b))
	do(k.i, a)
	do(k.j, b)
	k.Label("one")
	k.I("TBZ", "$0", k.count, "done")
	k.I("MOVWU.P", neon.Mem(k.idx, 4), k.i)
	k.I(k.One("FMOV")+".P", neon.Mem(k.val, k.Size()), a)
	do(k.i, a)
	k.Label("done")
}

// add adds value times an element of x to a sum, rounded once.
func (k *neonRows) add(index neon.G, value, sum neon.V) {
	x := k.V("x")
	k.I(k.One("FMOV"), neon.At(k.x, index, k.Shift()), x)
	k.I(k.One("FMADD"), value, sum, x, sum)
}

// check generates the code that checks the indices of the row that ends with entry t, and of more entries after
// it. idx is at entry from, and does not change.
func (k *neonRows) check(more int) {
	at, left, i := k.G("at"), k.G("left"), k.i
	a, b, most := k.V("v0"), k.V("v1"), k.V("most")
	greatest := func(v neon.V) {
		if k.hasFirst {
			k.I("VSUB", k.first.Of("S4"), v.Of("S4"), v.Of("S4"))
		}
		k.I("VUMAX", v.Of("S4"), most.Of("S4"), most.Of("S4"))
	}
	k.Label("check")
	k.I("CMP", k.end, k.t)
	k.I("BGT", "out")
	k.I("SUB", k.from, k.checked, left)
	k.I("ADD", left+"<<2", k.idx, at)
	k.I("ADD", neon.Imm(more), k.t, k.j)
	k.I("CMP", k.end, k.j)
	k.I("CSEL", "GT", k.end, k.j, k.j)
	k.I("SUB", k.checked, k.j, left)
	k.I("MOVD", k.j, k.checked)
	neon.Zero(k.Function, most)
	k.I("LSR", "$3", left, i)
	k.Loop("indices", i, func() {
		k.I("FLDPQ.P", neon.Mem(at, 32), neon.Pair(a, b))
		greatest(a)
		greatest(b)
	})
	k.I("AND", "$7", left, left)
	k.Loop("index", left, func() {
		k.I("MOVWU.P", neon.Mem(at, 4), i)
		k.I("VDUP", i, a.Of("S4"))
		greatest(a)
	})
	neon.Greatest(k.Function, most, most)
	k.I("FMOVS", most, i)
	k.I("CMP", k.n, i)
	k.I("BLO", "sum")
}

// rowsNEON generates the kernel of Rows.
func rowsNEON(l neon.Lanes) {
	f := l.Func("rows"+l.Suffix(), "func(a *rowsArgs[V])",
		"computes Rows, and sets a.rows to the number of rows before the first one with an index or a pointer out of range, or to",
		"fewer:",
		"",
		"\tfor r := range a.rows {",
		"\t\tsum := V(0)",
		"\t\tfor k := a.ptr[r] - a.ptr[0]; k < a.ptr[r+1]-a.ptr[0]; k++ {",
		"\t\t\tsum += a.val[k] * a.x[a.idx[k]]",
		"\t\t}",
		"\t\ta.y[r] = a.alpha*sum + a.beta*a.y[r]",
		"\t}")
	f.Args("ptr", "idx", "entries", "val", "x", "cols", "y", "rows", "work", "predicted", "near", "alpha", "beta")
	k := beginNEON(l, f, 4)
	for _, of := range []struct {
		name string
		to   neon.G
	}{{"ptr", k.ptr}, {"idx", k.idx}, {"entries", k.end}, {"val", k.val}, {"x", k.x}, {"cols", k.n}, {"y", k.y}, {"rows", k.rows}} {
		f.I("MOVD", f.Field(of.name), of.to)
	}
	alpha, beta, y := f.V("alpha"), f.V("beta"), f.V("y")
	f.I(k.One("FMOV"), f.Field("alpha"), alpha)
	f.I(k.One("FMOV"), f.Field("beta"), beta)
	k.each(func() {
		k.sumRow()
		sum := k.sums[0]
		f.I(k.One("FMUL"), alpha, sum, sum)
		f.I(k.One("FCMP"), "$(0.0)", beta)
		f.I("BEQ", "store")
		f.I(k.One("FMOV"), neon.Mem(k.y, 0), y)
		f.I(k.One("FMADD"), y, sum, beta, sum)
		f.Label("store")
		f.I(k.One("FMOV")+".P", sum, neon.Mem(k.y, k.Size()))
	})
	f.I("MOVD", f.Field("rows"), k.t)
	f.I("SUB", k.rows, k.t, k.t)
	f.I("MOVD", k.t, f.Field("rows"))
	f.Ret()
	k.check(atOnce)
	f.I("B", "out")
}

// fixedNEON generates the kernel of RowSums. It has one sum, in the order of the entries.
func fixedNEON(l neon.Lanes) {
	f := l.Func("rowSums"+l.Suffix(), "func(ptr []int64, idx []int32, val []V, x []V, sums []V) bool",
		"computes RowSums:",
		"",
		"\tfor r := range sums {",
		"\t\tsums[r] = 0",
		"\t\tfor k := ptr[r] - ptr[0]; k < ptr[r+1]-ptr[0]; k++ {",
		"\t\t\tsums[r] = fma(val[k], x[idx[k]], sums[r])",
		"\t\t}",
		"\t}",
		"",
		"It returns false, with some of the sums done, if an index or a pointer is out of range.")
	k := beginNEON(l, f, 1)
	for _, of := range []struct {
		name string
		to   neon.G
	}{{"ptr_base", k.ptr}, {"idx_base", k.idx}, {"idx_len", k.end}, {"val_base", k.val}, {"x_base", k.x}, {"x_len", k.n},
		{"sums_base", k.y}, {"sums_len", k.rows}} {
		f.I("MOVD", f.Place(of.name), of.to)
	}
	k.each(func() {
		k.sumRow()
		f.I(k.One("FMOV")+".P", k.sums[0], neon.Mem(k.y, k.Size()))
	})
	f.I("CMP", "$0", k.rows)
	f.I("CSET", "EQ", k.t)
	f.I("MOVB", k.t, f.Place("ret"))
	f.Ret()
	k.check(atOnce)
	f.I("B", "out")
}

// transposedNEON generates the kernel of rowsTransposedByRow.
func transposedNEON(l neon.Lanes) {
	f := l.Func("rowsTransposed"+l.Suffix(), "func(alpha V, ptr []int64, idx []int32, val []V, x []V, y []V, first int) (rows int)",
		"computes",
		"",
		"\tfor r := range x {",
		"\t\tfor k := ptr[r] - ptr[0]; k < ptr[r+1]-ptr[0]; k++ {",
		"\t\t\ty[idx[k]-first] += val[k] * (alpha * x[r])",
		"\t\t}",
		"\t}",
		"",
		"It stops at the first row with an element outside y or a pointer out of range, and returns the number of rows done.")
	k := beginNEON(l, f, 1)
	for _, of := range []struct {
		name string
		to   neon.G
	}{{"ptr_base", k.ptr}, {"idx_base", k.idx}, {"idx_len", k.end}, {"val_base", k.val}, {"x_base", k.x}, {"x_len", k.rows},
		{"y_base", k.y}, {"y_len", k.n}, {"first", k.i}} {
		f.I("MOVD", f.Place(of.name), of.to)
	}
	k.first, k.hasFirst = f.V("first"), true
	f.I("VDUP", k.i, k.first.Of("S4"))
	f.I("SUB", fmt.Sprintf("%s<<%d", k.i, l.Shift()), k.y, k.y)
	alpha, factor, sum := f.V("alpha"), f.V("factor"), f.V("x")
	f.I(k.One("FMOV"), f.Place("alpha"), alpha)
	add := func(index neon.G, value neon.V) {
		f.I(k.One("FMOV"), neon.At(k.y, index, k.Shift()), sum)
		f.I(k.One("FMADD"), value, sum, factor, sum)
		f.I(k.One("FMOV"), sum, neon.At(k.y, index, k.Shift()))
	}
	k.each(func() {
		f.I(k.One("FMOV")+".P", neon.Mem(k.x, k.Size()), factor)
		f.I(k.One("FMUL"), alpha, factor, factor)
		f.I("LSR", "$2", k.count, k.t)
		f.Loop("four", k.t, func() { k.four(func(_ int, index neon.G, value neon.V) { add(index, value) }) })
		k.last(add)
	})
	f.I("MOVD", f.Place("x_len"), k.t)
	f.I("SUB", k.rows, k.t, k.t)
	f.I("MOVD", k.t, f.Place("rows"))
	f.Ret()
	k.check(0) // an element outside y is usual
	f.I("B", "out")
}
