package partition_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/partition"
)

// The 19 nonzeros of the MSREP paper's Figure 1 in four parts.
func ExampleSplit() {
	rowPtr := []int64{0, 2, 5, 8, 12, 16, 19}
	parts, _, err := partition.Split(rowPtr, 4, partition.RuleNNZ)
	if err != nil {
		log.Fatal(err)
	}
	for i, p := range parts {
		fmt.Printf("part %d: entries %d to %d, rows %d to %d, owns [%d, %d), carry %t\n",
			i, p.StartIdx, p.EndIdx, p.StartMajor, p.EndMajor, p.OwnFirst, p.OwnEnd, p.StartFlag)
	}
	// Output:
	// part 0: entries 0 to 3, rows 0 to 1, owns [0, 2), carry false
	// part 1: entries 4 to 8, rows 1 to 3, owns [2, 4), carry true
	// part 2: entries 9 to 13, rows 3 to 4, owns [4, 5), carry true
	// part 3: entries 14 to 18, rows 4 to 5, owns [5, 6), carry true
}
