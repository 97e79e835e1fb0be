package main

import (
	"fmt"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// tilesNEON is tiles for NEON.
func tilesNEON(l neon.Lanes, side int) {
	f := l.Func(fmt.Sprintf("transpose%d%s", side, l.Suffix()), "func(n int, from *V, ldf int, stepf int, to *V, ldt int, stept int)",
		"transposes n > 0 tiles: for i and j less than the number in its name,",
		"",
		"\tfor t := range n {",
		"\t\tto[t*stept + j*ldt + i] = from[t*stepf + i*ldf + j]",
		"\t}",
		"",
		"stepf, ldf, stept and ldt are bytes.")
	n, from, to := f.Load("n"), f.Load("from"), f.Load("to")
	f.Load("ldf")
	f.Load("ldt")
	stepf, stept := f.Load("stepf"), f.Load("stept")
	// rows returns the addresses of the rows of the tile at first.
	rows := func(first neon.G, ld string) []neon.G {
		all := []neon.G{first}
		for i := 1; i < side; i++ {
			all = append(all, f.G(fmt.Sprint(ld, i)))
			f.I("ADD", f.G(ld), all[i-1], all[i])
		}
		return all
	}
	zip := func(a, b neon.V, of, name string) (low, high neon.V) { // the elements of a and b in turn
		low, high = f.V(name+" low"), f.V(name+" high")
		f.I("VZIP1", b.Of(of), a.Of(of), low.Of(of))
		f.I("VZIP2", b.Of(of), a.Of(of), high.Of(of))
		return low, high
	}
	f.Label("tile")
	in, out := rows(from, "ldf"), rows(to, "ldt")
	register := func(row, half int) neon.V { return f.V(fmt.Sprint("row", row, half)) }
	switch {
	case l.Double && side == 4:
		for i, at := range in {
			f.I("FLDPQ", neon.Mem(at, 0), neon.Pair(register(i, 0), register(i, 1)))
		}
		for half := range 2 {
			a, b := zip(register(0, half), register(1, half), "D2", fmt.Sprint("a", half))
			c, d := zip(register(2, half), register(3, half), "D2", fmt.Sprint("b", half))
			f.I("FSTPQ", neon.Pair(a, c), neon.Mem(out[2*half], 0))
			f.I("FSTPQ", neon.Pair(b, d), neon.Mem(out[2*half+1], 0))
		}
	case l.Double:
		for i, at := range in {
			f.I("FMOVQ", neon.Mem(at, 0), register(i, 0))
		}
		a, b := zip(register(0, 0), register(1, 0), "D2", "a")
		f.I("FMOVQ", a, neon.Mem(out[0], 0))
		f.I("FMOVQ", b, neon.Mem(out[1], 0))
	case side == 4:
		for i, at := range in {
			f.I("FMOVQ", neon.Mem(at, 0), register(i, 0))
		}
		a, b := zip(register(0, 0), register(2, 0), "S4", "a") // rows 0 and 2, in turn
		c, d := zip(register(1, 0), register(3, 0), "S4", "b")
		for half, pair := range [][2]neon.V{{a, c}, {b, d}} {
			low, high := zip(pair[0], pair[1], "S4", fmt.Sprint("out", half))
			f.I("FMOVQ", low, neon.Mem(out[2*half], 0))
			f.I("FMOVQ", high, neon.Mem(out[2*half+1], 0))
		}
	default:
		for i, at := range in {
			f.I("FMOVD", neon.Mem(at, 0), register(i, 0))
		}
		a, _ := zip(register(0, 0), register(1, 0), "S4", "a")
		f.I("FMOVD", a, neon.Mem(out[0], 0))
		f.I("VST1", a.Of("D[1]"), neon.Mem(out[1], 0))
	}
	f.I("ADD", stepf, from, from)
	f.I("ADD", stept, to, to)
	f.I("SUBS", "$1", n, n)
	f.I("BNE", "tile")
	f.Ret()
}
