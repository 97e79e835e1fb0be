// Command blocks_transposed generates the kernels of transposed products of blocks. Their sums are in memory, not in
// registers.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	lanes.DefineSpread()
	for _, l := range lanes.All() {
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
