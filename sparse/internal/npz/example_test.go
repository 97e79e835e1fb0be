package npz_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/internal/npz"
)

// Both scipy.sparse.load_npz and Read read the output of Write.
func ExampleWrite() {
	m, err := sparse.NewCSR(2, 3, []int64{0, 2, 3}, []int32{0, 2, 1}, []float64{1, 2, 3})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := npz.Write(&file, m); err != nil {
		log.Fatal(err)
	}
	r := bytes.NewReader(file.Bytes())
	again, _, err := npz.Read(context.Background(), r, r.Size(), "m.npz", "", sparse.Limits{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.RowPtr, again.ColIdx, again.Val)
	// Output: [0 2 3] [0 2 1] [1 2 3]
}
