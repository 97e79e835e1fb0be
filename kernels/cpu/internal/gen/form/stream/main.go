// Command stream generates the last step of products, with stores past the caches for vectors that
// do not fit in them, and prefetching.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

func main() {
	for _, l := range lanes.All() {
		finish(l, false)
		finish(l, true)
		permute(l)
	}
	fence()
	ahead()
	Generate()
	for _, l := range neon.All {
		finishNEON(l, false)
		finishNEON(l, true)
		permuteNEON(l)
	}
	minMaxNEON()
	neon.WriteFiles()
}

// finish generates the last step of a product for whole registers, for sums in their order or at
// listed positions.
func finish(l lanes.Lanes, listed bool) {
	name, list, doc := "storeRows"+l.Suffix(), "", "StoreRows"
	if listed {
		name, list, doc = "storePermutedRows"+l.Suffix(), "at *uint16, ", "StorePermutedRows"
	}
	l.Func(name, "func(n int, alpha, beta V, "+list+"sums, y *V, stream int)",
		"computes "+doc+" for n > 0 registers of elements.")
	n := Load(Param("n"), GP64())
	var at Register
	if listed {
		at = Load(Param("at"), GP64())
	}
	sums := Load(Param("sums"), GP64())
	y := Load(Param("y"), GP64())
	alpha, beta, t := l.Reg(), l.Reg(), l.Reg()
	l.Broadcast(lanes.Arg("alpha"), alpha)
	l.Broadcast(lanes.Arg("beta"), beta)
	nan := l.NaN()
	// loop generates the loop over all registers.
	loop := func(name string, add bool, store func(VecVirtual, Mem)) {
		Label(name)
		if listed {
			l.Mul(gather(l, sums, at), alpha, t)
			ADDQ(Imm(uint64(2*l.Count())), at)
		} else {
			l.Mul(Mem{Base: sums}, alpha, t)
			ADDQ(Imm(uint64(l.Bytes())), sums)
		}
		if add {
			l.FMA(Mem{Base: y}, beta, t)
		}
		l.Quiet(nan, t)
		store(t, Mem{Base: y})
		ADDQ(Imm(uint64(l.Bytes())), y)
		DECQ(n)
		JNZ(LabelRef(name))
		VZEROUPPER()
		RET()
	}
	l.IsZero(lanes.Arg("beta"))
	JNE(LabelRef("add"))
	CMPQ(lanes.Arg("stream"), Imm(0))
	JNE(LabelRef("stream"))
	loop("scale", false, l.Store)
	loop("stream", false, l.Stream)
	loop("add", true, l.Store)
}

// gather loads the elements at the positions listed at at.
func gather(l lanes.Lanes, from, at Register) VecVirtual {
	place := lanes.ShortIndices(func(lane int) Mem { return Mem{Base: at, Disp: 2 * lane} })
	return l.GatherFrom(func(lane int) Mem { return Mem{Base: from, Index: place(lane), Scale: uint8(l.Size())} })
}

// permute generates loads from listed positions.
func permute(l lanes.Lanes) {
	name := "permute" + l.Suffix()
	l.Func(name, "func(n int, at *uint16, from, to *V)",
		"computes to[i] = from[at[i]] for n > 0 registers of elements.")
	n := Load(Param("n"), GP64())
	at := Load(Param("at"), GP64())
	from := Load(Param("from"), GP64())
	to := Load(Param("to"), GP64())
	Label("loop")
	l.Store(gather(l, from, at), Mem{Base: to})
	ADDQ(Imm(uint64(2*l.Count())), at)
	ADDQ(Imm(uint64(l.Bytes())), to)
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

func fence() {
	TEXT("fence", NOSPLIT, "func()")
	Doc("fence makes stores past the caches visible before all later stores.")
	SFENCE()
	RET()
}

func ahead() {
	lanes.Func("loadAhead", "func(p *byte, lines int)",
		"prefetches lines lines of 64 bytes from p on. The memory need not exist.")
	p := Load(Param("p"), GP64())
	n := Load(Param("lines"), GP64())
	Label("loop")
	PREFETCHT1(Mem{Base: p})
	ADDQ(Imm(64), p)
	DECQ(n)
	JG(LabelRef("loop"))
	RET()
}
