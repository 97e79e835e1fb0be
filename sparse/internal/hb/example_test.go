package hb_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/internal/hb"
)

// Of a symmetric matrix the file holds one triangle.
func ExampleWrite() {
	m, src, err := gen.Generate("stencil:dims=2,n=3")
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := hb.Write(&file, m, src); err != nil {
		log.Fatal(err)
	}
	again, src, err := hb.Read(context.Background(), &file, "stencil.rb", sparse.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.NNZ(), src.Stored, src.Symmetry)
	// Output: 33 21 symmetric
}
