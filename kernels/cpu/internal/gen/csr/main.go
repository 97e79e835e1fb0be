// Command csr generates the kernels of rows in CSR: their product, its transpose, sums in a fixed
// order, and the products by several vectors at once.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

func main() {
	defineMasks()
	lanes.DefineCounts()
	defineManyMasks()
	for _, generate := range []func(l lanes.Lanes){rows, spread, transposed, fixed} {
		generate(lanes.Lanes{Double: true})
		generate(lanes.Lanes{})
	}
	for _, l := range lanes.All() {
		many(lanes.Part{Lanes: l})
		manyTransposed(lanes.Part{Lanes: l})
		permute(lanes.Part{Lanes: l})
	}
	for _, l := range append(lanes.Halves(), lanes.ShortMasked()...) {
		many(lanes.Part{Lanes: l})
	}
	lanes.WriteFiles()
	for _, l := range neon.All {
		rowsNEON(l)
		fixedNEON(l)
		transposedNEON(l)
		for _, vectors := range []int{1, 2, 4} {
			manyNEON(l, vectors)
		}
	}
	neon.WriteFiles()
}

// keep copies a field of the arguments to the stack, from where a loop reads it without a register
// for the address of the arguments.
func keep(a *lanes.Arguments, name string) Mem {
	to := AllocLocal(8)
	MOVQ(a.Load(name), to)
	return to
}
