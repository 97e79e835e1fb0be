package main

import "github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"

// minMaxNEON generates what the command minmax does for amd64.
func minMaxNEON() {
	f := neon.Func("minMaxNEON", "func(idx []int32) (lo int32, hi int32)", "computes MinMax of at least eight indices.")
	p, n, lo, hi, a, b := f.G("p"), f.G("n"), f.V("lo"), f.V("hi"), f.V("a"), f.V("b")
	f.I("MOVD", f.Place("idx_base"), p)
	f.I("MOVD", f.Place("idx_len"), n)
	last, left := f.G("last"), f.G("left")
	f.I("ADD", n+"<<2", p, last)
	f.I("SUB", "$32", last, last)
	f.I("FMOVQ", neon.Mem(last, 0), lo)
	f.I("VORR", lo.Of("B16"), lo.Of("B16"), hi.Of("B16"))
	both := func(a neon.V) {
		neon.Least(f, a, lo, lo)
		neon.Most(f, a, hi, hi)
	}
	f.I("FMOVQ", neon.Mem(last, 16), a)
	both(a)
	f.I("LSR", "$3", n, left)
	f.Loop("loop", left, func() {
		f.I("FLDPQ.P", neon.Mem(p, 32), neon.Pair(a, b))
		both(a)
		both(b)
	})
	neon.LeastOf(f, lo, lo)
	neon.MostOf(f, hi, hi)
	f.I("FMOVS", lo, f.Place("lo"))
	f.I("FMOVS", hi, f.Place("hi"))
	f.Ret()
}
