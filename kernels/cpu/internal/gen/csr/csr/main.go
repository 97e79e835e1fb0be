// Command csr generates the assembly that multiplies rows in CSR and their transpose.
package main

import (
	. "github.com/mmcloughlin/avo/build"

	"github.com/msrep-go/msrep/kernels/cpu/internal/gen/lanes"
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
	Generate()
}
