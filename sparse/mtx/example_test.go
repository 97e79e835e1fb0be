package mtx_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// Read expands one triangle of a symmetric matrix to both; Write writes one triangle.
func ExampleRead() {
	const file = `%%MatrixMarket matrix coordinate real symmetric
2 2 2
1 1 4
2 1 -1
`
	m, src, err := mtx.Read(context.Background(), strings.NewReader(file), "example.mtx", sparse.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.RowPtr, m.ColIdx, m.Val, src.Symmetry, src.Stored)
	if err := mtx.Write(os.Stdout, m, src); err != nil {
		log.Fatal(err)
	}
	// Output:
	// [0 2 3] [0 1 0] [4 -1 -1] symmetric 2
	// %%MatrixMarket matrix coordinate real symmetric
	// 2 2 2
	// 1 1 4
	// 2 1 -1
}

// An error names the file and the line.
func ExampleRead_error() {
	const file = `%%MatrixMarket matrix coordinate real general
2 2 1
3 1 4
`
	_, _, err := mtx.Read(context.Background(), strings.NewReader(file), "example.mtx", sparse.Limits{})
	fmt.Println(err)
	// Output: example.mtx:3: row index 3 is outside 1..2
}
