// Command many_lanes generates the assembly that multiplies slices and diagonals by several vectors
// at once, and the loops that expand values before.
package main

import "github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"

func main() {
	lanes.DefineCounts()
	lanes.DefineNibbles()
	lanes.DefineSpread()
	for _, l := range lanes.All() {
		for _, k := range []kind{narrow, wide, diagonal, perDiagonal} {
			for v := 1; v <= maxVectors; v++ {
				rows(lanes.Part{Lanes: l}, k, v)
			}
		}
		for _, v := range lanes.ValuesOf(l) {
			if v.Name != lanes.Full.Name && v.Name != lanes.Same.Name {
				expand(l, v)
			}
		}
		if l.Double && l.Long {
			expand(l, lanes.Bits57)
		}
	}
	for _, l := range append(lanes.Halves(), lanes.ShortMasked()...) {
		for _, k := range []kind{narrow, wide} {
			rows(lanes.Part{Lanes: l}, k, 1)
		}
	}
	lanes.WriteFiles()
}
