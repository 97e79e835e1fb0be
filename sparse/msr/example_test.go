package msr_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/msr"
)

// A file that was written is mapped: its arrays are used in place until Close.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "msr")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m, err := sparse.NewCSR(2, 3, []int64{0, 2, 3}, []int32{0, 2, 1}, []float64{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(dir, "m.msr")
	file, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := msr.Write(file, m, sparse.Source{}); err != nil {
		log.Fatal(err)
	}
	if err := file.Close(); err != nil {
		log.Fatal(err)
	}
	mapped, err := msr.Open[float64](context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	defer mapped.Close()
	fmt.Println(mapped.Matrix().RowPtr, mapped.Matrix().ColIdx, mapped.Matrix().Val)
	// Output: [0 2 3] [0 2 1] [1 2 3]
}
