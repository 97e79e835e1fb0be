package main

import "github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"

// finishNEON generates the last step of a product for whole slices, for sums in their order or at listed positions.
// It ignores stream.
func finishNEON(l neon.Lanes, listed bool) {
	name, list, doc := "storeRows"+l.Suffix(), "", "StoreRows"
	if listed {
		name, list, doc = "storePermutedRows"+l.Suffix(), "at *uint16, ", "StorePermutedRows"
	}
	f := l.Func(name, "func(n int, alpha V, beta V, "+list+"sums *V, y *V, stream int)",
		"computes "+doc+" for the lanes of n > 0 slices.")
	n, sums, y := f.Load("n"), f.Load("sums"), f.Load("y")
	if listed {
		f.Load("at")
		neon.BeginGather(f, 2)
	}
	l.BroadcastArg(f, "alpha", f.V("alpha"))
	l.BroadcastArg(f, "beta", f.V("beta"))
	l.BeginQuiet(f)
	loop := func(name string, add bool) {
		f.Label(name)
		v := f.Slice("x")
		if listed {
			l.Gather(f, f.G("at"), sums, 2)
		} else {
			neon.LoadSlice(f, sums, v)
		}
		for _, v := range v {
			l.Mul(f, v, f.V("alpha"), v)
		}
		if add {
			old := f.Slice("old")
			f.I("FLDPQ", neon.Mem(y, 0), neon.Pair(old[0], old[1]))
			f.I("FLDPQ", neon.Mem(y, 32), neon.Pair(old[2], old[3]))
			for i, v := range v {
				l.FMA(f, old[i], f.V("beta"), v)
			}
		}
		for _, v := range v {
			l.Quiet(f, v)
		}
		neon.StoreSlice(f, v, y)
		f.I("SUBS", "$1", n, n)
		f.I("BNE", name)
		f.Ret()
	}
	f.I(l.One("FCMP"), "$(0.0)", f.V("beta"))
	f.I("BNE", "add")
	loop("scale", false)
	loop("add", true)
}

// permuteNEON generates loads from listed positions.
func permuteNEON(l neon.Lanes) {
	f := l.Func("permute"+l.Suffix(), "func(n int, at *uint16, from *V, to *V)",
		"computes to[i] = from[at[i]] for the lanes of n > 0 slices.")
	n, at, from, to := f.Load("n"), f.Load("at"), f.Load("from"), f.Load("to")
	neon.BeginGather(f, 2)
	f.Label("loop")
	neon.StoreSlice(f, l.Gather(f, at, from, 2), to)
	f.I("SUBS", "$1", n, n)
	f.I("BNE", "loop")
	f.Ret()
}
