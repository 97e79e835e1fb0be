// Command many generates the assembly that multiplies rows in CSR by several
// vectors at once.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	for _, e := range []elem{{"F64", "float64", 8}, {"F32", "float32", 4}} {
		rows(e, avx2{e, iota(e)})
		rows(e, avx512{e})
	}
	Generate()
}
