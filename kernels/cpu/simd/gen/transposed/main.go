// Command transposed generates the kernels of transposed products: their sums are in memory, not in
// registers.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineNibbles()
	lanes.DefineSpread()
	lanes.DefineShifter()
	for _, l := range lanes.All() {
		for _, v := range lanes.ValuesOf(l) {
			diagonals(l, v)
			slices(l, v, 2)
			slices(l, v, 4)
		}
		outOfRange(l)
		blocks(l, lanes.Full)
		if l.Double {
			blocks(l, lanes.Short)
		}
		if l.Double && l.Long {
			blocks(l, lanes.Bits57)
		}
	}
	Generate()
}
