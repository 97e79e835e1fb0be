// Command factors generates the kernel that finds elements of a vector outside a range.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
)

func main() {
	for _, l := range lanes.All() {
		outOfRange(l)
	}
	Generate()
}
