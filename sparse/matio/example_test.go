package matio_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/msrep-go/msrep/sparse/matio"
)

// The extension selects the format: Read reads one format, and Write writes another.
func ExampleRead() {
	dir, err := os.MkdirTemp("", "matio")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m, err := matio.Read(context.Background(), "gen:stencil:dims=2,n=10")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	path := filepath.Join(dir, "stencil.mtx.gz")
	if err := matio.Write(path, m.CSR, m.Source); err != nil {
		log.Fatal(err)
	}
	again, err := matio.Read(context.Background(), path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Rows, again.Cols, again.NNZ(), again.Source.Symmetry)
	// Output: 100 100 460 symmetric
}
