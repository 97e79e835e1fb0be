package sparse_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse"
)

// Entries in any order become rows.
func ExampleToCSR() {
	a, err := sparse.NewCOO(2, 3, []int32{1, 0, 0}, []int32{2, 1, 0}, []float64{6, 2, 1})
	if err != nil {
		log.Fatal(err)
	}
	m := sparse.ToCSR(sparse.Matrix[float64](a))
	fmt.Println(m.RowPtr, m.ColIdx, m.Val)
	// Output: [0 2 3] [1 0 2] [2 1 6]
}
