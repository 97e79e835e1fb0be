// Command symmetric generates the kernels of symmetric matrices of which only the lower
// triangle is stored: each entry is multiplied for its row and for its column.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	lanes.DefineBits()
	lanes.DefineAhead()
	for _, l := range lanes.All() {
		if l.Long {
			defineLanes(l)
		}
		diagonals(l)
	}
	Generate()
}

// defineLanes defines the numbers of the lanes of two registers.
func defineLanes(l lanes.Lanes) {
	GLOBL("lanes"+l.Suffix(), RODATA|NOPTR)
	for i := range 2 * l.Count() {
		if l.Double {
			DATA(8*i, U64(i))
		} else {
			DATA(4*i, U32(i))
		}
	}
}
