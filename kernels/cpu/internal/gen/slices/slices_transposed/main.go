// Command slices_transposed generates the kernels of transposed products of slices. Their sums are in memory, not in
// registers.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineNibbles()
	for _, l := range lanes.All() {
		for _, v := range lanes.ValuesOf(l) {
			slices(l, v, 2)
			slices(l, v, 4)
		}
	}
	Generate()
}
