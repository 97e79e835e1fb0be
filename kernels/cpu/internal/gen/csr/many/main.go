// Command many generates the assembly that multiplies rows in CSR, and their transpose, by several
// vectors at once, and that reorders rows of such vectors.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineCounts()
	defineMasks()
	for _, l := range lanes.All() {
		rows(lanes.Part{Lanes: l})
		scatter(lanes.Part{Lanes: l})
		order(lanes.Part{Lanes: l})
	}
	for _, l := range append(lanes.Halves(), lanes.ShortMasked()...) {
		rows(lanes.Part{Lanes: l})
	}
	Generate()
}
