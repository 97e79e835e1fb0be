// Command diagonals generates the kernels of diagonals: successive rows of the matrix, one per lane.
// All lanes have entries at the same offsets from the main diagonal, so that their elements of x are
// consecutive.
package main

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

// aheadBytes is the number of bytes by which values are prefetched: the hardware prefetcher alone is
// slower than memory beside the loads of x.
const aheadBytes = 4096

func main() {
	lanes.DefineBits()
	lanes.DefineNibbles()
	lanes.DefineRotate()
	lanes.DefineShifter()
	for _, generate := range []func(lanes.Lanes, lanes.Values){multiply, transposed} {
		for _, l := range lanes.All() {
			for _, v := range lanes.ValuesOf(l) {
				generate(l, v)
			}
		}
	}
	for _, l := range lanes.All() {
		// A mask of all elements of the rows of a slice has at most 64 bits.
		for k := 2; l.Long && k < 8 && k*l.Count() <= 64; k++ {
			few(l, k)
		}
	}
	lanes.WriteFiles()
	for _, l := range neon.All {
		for _, v := range neon.ValuesOf(l) {
			multiplyNEON(l, v)
			transposedNEON(l, v)
		}
	}
	neon.WriteFiles()
}
