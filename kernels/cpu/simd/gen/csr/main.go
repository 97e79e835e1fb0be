// Command csr generates the assembly that multiplies rows in CSR and transposed
// ones, and the least and greatest of a run of indices.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	defineMasks()
	rows("rowsF64", "float64", double{})
	rows("rowsF32", "float32", single{})
	spread("spreadF64", "float64", double{})
	spread("spreadF32", "float32", single{})
	scatter("scatterF64", "float64", double{})
	scatter("scatterF32", "float32", single{})
	minMax()
	Generate()
}
