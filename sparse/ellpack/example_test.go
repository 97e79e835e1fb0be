package ellpack_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/ellpack"
)

// Rows of 1, 3 and 2 entries, and an empty position that fills the warp of 4: ell pads
// all of them to 3, jad pads none. Position i of jad holds row Perm[i], longest first.
func ExampleMeasure() {
	m, err := sparse.NewCSR(3, 3, []int64{0, 1, 4, 6}, []int32{0, 0, 1, 2, 1, 2}, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		log.Fatal(err)
	}
	lengths, err := ellpack.Measure(m.RowPtr, 0, m.NNZ(), ellpack.Options{Height: 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range []sparse.Format{ellpack.FormatELL, ellpack.FormatJAD} {
		shape, _ := lengths.Shape(f, 8)
		fmt.Println(f, shape.Slots, "places,", shape.Padding(), "empty,", shape.Bytes(8), "bytes")
	}
	jad, err := ellpack.NewJAD(ellpack.Of(m), ellpack.Options{Height: 4})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(jad.Perm, jad.Start, jad.Val)
	// Output:
	// ell 12 places, 6 empty, 144 bytes
	// jad 6 places, 0 empty, 116 bytes
	// [1 2 0] [0 3 5 6] [2 5 1 3 6 4]
}
