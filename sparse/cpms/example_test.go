package cpms_test

import (
	"fmt"
	"log"
	"math"

	"github.com/msrep-go/msrep/sparse/cpms"
)

// A value in four segments of 16 bits, read from 1, 2, 3 and all of them.
func ExampleNew() {
	a, err := cpms.New(1, cpms.Layout{Segments: 4})
	if err != nil {
		log.Fatal(err)
	}
	a.Set(0, 4, math.Pi, cpms.Truncate)
	for k := 1; k <= 4; k++ {
		fmt.Println(16*k, "bits", a.At(0, k))
	}
	// Output:
	// 16 bits 3.125
	// 32 bits 3.141592025756836
	// 48 bits 3.1415926535846666
	// 64 bits 3.141592653589793
}
