package main

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// manyNEON generates the kernel of RowsMany for vectors registers of columns, which are filled.
func manyNEON(l neon.Lanes, vectors int) {
	f := l.Func(fmt.Sprintf("many%d%s", vectors, l.Suffix()), "func(a *manyArgs[V])",
		"computes RowsMany for as many registers of columns as its name says, and sets a.pointers to 1 more than the number of",
		"rows before the first one with an index or a pointer out of range, or to less:",
		"",
		"\tfor r := range a.pointers - 1 {",
		"\t\tvar sums [columns]V",
		"\t\tfor k := a.ptr[r] - a.ptr[0]; k < a.ptr[r+1]-a.ptr[0]; k++ {",
		"\t\t\tfor j := range sums {",
		"\t\t\t\tsums[j] += a.val[k] * a.x[a.idx[k]][j]",
		"\t\t\t}",
		"\t\t}",
		"\t\tfor j, sum := range sums {",
		"\t\t\ta.y[r][j] = a.alpha*sum + a.beta*a.y[r][j]",
		"\t\t}",
		"\t}")
	f.Args("ptr", "pointers", "idx", "entries", "val", "x", "y", "rowsX", "ldx", "ldy", "vectors", "last", "prefetchEnd", "across",
		"stream", "near", "predicted", "alpha", "beta")
	k := beginNEON(l, f, 0)
	for _, of := range []struct {
		name string
		to   neon.G
	}{{"ptr", k.ptr}, {"pointers", k.rows}, {"idx", k.idx}, {"entries", k.end}, {"val", k.val}, {"x", k.x}, {"y", k.y}, {"rowsX", k.n}} {
		f.I("MOVD", f.Field(of.name), of.to)
	}
	ldx, ldy := f.Load("ldx"), f.Load("ldy")
	f.I("SUB", "$1", k.rows, k.rows)
	alpha, beta, value := f.V("alpha"), f.V("beta"), f.V("value")
	l.BroadcastArg(f, "alpha", alpha)
	l.BroadcastArg(f, "beta", beta)
	var sums, x []neon.V
	for i := range vectors {
		sums, x = append(sums, f.V(fmt.Sprint("sum", i))), append(x, f.V(fmt.Sprint("x", i)))
	}
	load := func(v []neon.V, at neon.G) {
		if vectors == 1 {
			f.I("FMOVQ", neon.Mem(at, 0), v[0])
			return
		}
		for i := 0; i < vectors; i += 2 {
			f.I("FLDPQ", neon.Mem(at, 16*i), neon.Pair(v[i], v[i+1]))
		}
	}
	k.each(func() {
		neon.Zero(f, sums...)
		f.Loop("entry", k.count, func() {
			f.I("MOVWU.P", neon.Mem(k.idx, 4), k.i)
			f.I("MADD", ldx, k.x, k.i, k.j)
			f.I("VLD1R.P", neon.Mem(k.val, l.Size()), fmt.Sprintf("[%s]", value.Of(l.Arrangement())))
			load(x, k.j)
			for i := range sums {
				l.FMA(f, x[i], value, sums[i])
			}
		})
		for _, s := range sums {
			l.Mul(f, s, alpha, s)
		}
		f.I(l.One("FCMP"), "$(0.0)", beta)
		f.I("BEQ", "store")
		load(x, k.y)
		for i := range sums {
			l.FMA(f, x[i], beta, sums[i])
		}
		f.Label("store")
		for i := 0; i < vectors; i += 2 {
			if vectors == 1 {
				f.I("FMOVQ", sums[0], neon.Mem(k.y, 0))
			} else {
				f.I("FSTPQ", neon.Pair(sums[i], sums[i+1]), neon.Mem(k.y, 16*i))
			}
		}
		f.I("ADD", ldy, k.y, k.y)
	})
	f.I("MOVD", f.Field("pointers"), k.t)
	f.I("SUB", k.rows, k.t, k.t)
	f.I("MOVD", k.t, f.Field("pointers"))
	f.Ret()
	k.check(atOnce)
	f.I("B", "out")
}
