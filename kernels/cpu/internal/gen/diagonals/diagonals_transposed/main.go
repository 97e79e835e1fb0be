// Command diagonals_transposed generates the kernels of transposed products of diagonals. Their sums are in memory, not
// in registers.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineNibbles()
	lanes.DefineShifter()
	for _, l := range lanes.All() {
		for _, v := range lanes.ValuesOf(l) {
			diagonals(l, v)
		}
	}
	Generate()
}
