package snap_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/snap"
)

// An edge that is repeated counts once.
func ExampleRead() {
	m, src, err := snap.Read(context.Background(), strings.NewReader("# from to\n0 1\n0 2\n2 0\n0 1\n"), "graph.txt", sparse.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Rows, m.RowPtr, m.ColIdx, src.Stored)
	// Output: 3 [0 2 2 3] [1 2 0] 4
}
