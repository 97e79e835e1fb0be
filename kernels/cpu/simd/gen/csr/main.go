// Command csr generates the assembly that multiplies rows in CSR and their transpose, and that
// finds the least and the greatest index.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/simd/gen/lanes"
)

func main() {
	defineMasks()
	double, single := lanes.Lanes{Double: true}, lanes.Lanes{}
	rows(double)
	rows(single)
	spread(double)
	spread(single)
	scatter(double)
	scatter(single)
	minMax()
	Generate()
}
