package sparse_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse"
)

// Two finite elements share node 1; their values there are added.
func ExampleFromTriples() {
	var row, col []int32
	var val []float64
	for e := range int32(2) { // the element between nodes e and e+1
		row = append(row, e, e, e+1, e+1)
		col = append(col, e, e+1, e, e+1)
		val = append(val, 1, -1, -1, 1)
	}
	a, err := sparse.FromTriples(3, 3, row, col, val)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.RowPtr, a.ColIdx, a.Val)
	// Output: [0 2 5 7] [0 1 0 1 2 1 2] [1 -1 -1 2 -1 -1 1]
}

// Entries in any order become rows; entries of the same position remain separate.
func ExampleToCSR() {
	a, err := sparse.NewCOO(2, 3, []int32{1, 0, 0}, []int32{2, 1, 0}, []float64{6, 2, 1})
	if err != nil {
		log.Fatal(err)
	}
	m := sparse.ToCSR(a)
	fmt.Println(m.RowPtr, m.ColIdx, m.Val)
	// Output: [0 2 3] [1 0 2] [2 1 6]
}

// A time loop assembles matrices with the same positions and other values.
func ExampleNewPattern() {
	rowIdx, colIdx := []int32{1, 0, 1}, []int32{1, 0, 1}
	p, err := sparse.NewPattern[float64](2, 2, rowIdx, colIdx)
	if err != nil {
		log.Fatal(err)
	}
	a := p.Matrix()
	for step := range 2 {
		t := float64(step + 1)
		if err := p.Fill([]float64{t, 10 * t, 0.5}, a.Val); err != nil {
			log.Fatal(err)
		}
		fmt.Println(a.RowPtr, a.ColIdx, a.Val)
	}
	// Output:
	// [0 1 2] [0 1] [10 1.5]
	// [0 1 2] [0 1] [20 2.5]
}
