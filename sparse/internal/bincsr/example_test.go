package bincsr_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/bincsr"
)

// Three numbers of 8 bytes, 3 pointers of 8, 3 indices of 4, 3 values of 8.
func ExampleWrite() {
	m, err := sparse.NewCSR(2, 3, []int64{0, 2, 3}, []int32{0, 2, 1}, []float64{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := bincsr.Write(&file, m); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Len(), "bytes")
	again, _, err := bincsr.Read(context.Background(), &file, "m.bin", sparse.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.RowPtr, again.ColIdx, again.Val)
	// Output:
	// 84 bytes
	// [0 2 3] [0 2 1] [1 2 3]
}
