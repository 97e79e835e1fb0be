// Command slices generates the kernels of slices: rows of the matrix side by side, one per lane.
package main

import (
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/neon"
)

func main() {
	lanes.DefineBits()
	lanes.DefineNibbles()
	for _, generate := range []func(l lanes.Lanes, values lanes.Values, indexBytes int){multiply, transposed} {
		for _, l := range lanes.All() {
			for _, v := range lanes.ValuesOf(l) {
				generate(l, v, 2)
				generate(l, v, 4)
			}
		}
	}
	lanes.WriteFiles()
	for _, l := range neon.All {
		for _, v := range neon.ValuesOf(l) {
			multiplyNEON(l, v, 2)
			multiplyNEON(l, v, 4)
			transposedNEON(l, v, 2)
			transposedNEON(l, v, 4)
		}
	}
	neon.WriteFiles()
}
