package stats_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/internal/stats"
	"github.com/msrep-go/msrep/sparse/gen"
)

// A 5-point stencil on a square grid.
func ExampleOf() {
	m, _, err := gen.Generate("stencil:dims=2,n=100")
	if err != nil {
		log.Fatal(err)
	}
	s := stats.Of(m)
	fmt.Printf("%d entries, %d to %d a row, bandwidth %d, %d bytes as csr\n", s.NNZ, s.Row.Min, s.Row.Max, s.Bandwidth, s.Formats["csr"].Bytes)
	fmt.Println(s.Recommend().Format)
	// Output:
	// 49600 entries, 3 to 5 a row, bandwidth 100, 675208 bytes as csr
	// sell
}
