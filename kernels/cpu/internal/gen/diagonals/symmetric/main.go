// Command symmetric generates the kernels of symmetric matrices of which only the lower triangle is
// stored: each entry is multiplied for its row and for its column.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineShiftDown()
	for _, l := range lanes.All() {
		if l.Long {
			l.Define("lanes"+l.Suffix(), 2*l.Count(), func(i int) uint64 { return uint64(i) })
		}
		diagonals(l)
	}
	Generate()
}
