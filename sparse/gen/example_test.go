package gen_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse/gen"
)

// The 5-point stencil on a grid of 2 x 2 points.
func ExampleGenerate() {
	m, src, err := gen.Generate("stencil:dims=2,n=2")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.RowPtr, m.ColIdx, m.Val, src.Symmetry)
	// Output: [0 3 6 9 12] [0 1 2 0 1 3 0 2 3 1 2 3] [4 -1 -1 -1 4 -1 -1 4 -1 -1 -1 4] symmetric
}
