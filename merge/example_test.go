package merge_test

import (
	"fmt"
	"log"

	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/partition"
)

// The matrix has rows 0 to 3 in three parts. Part 1 begins inside row 0, and part 2
// inside row 2. The owners have written these rows; Rows adds the carries of the other
// parts.
func ExampleRows() {
	parts, _, err := partition.Split([]int64{0, 4, 5, 8, 9}, 3, partition.RuleNNZ)
	if err != nil {
		log.Fatal(err)
	}
	y := []float64{10, 20, 30, 40}
	for i, p := range parts {
		fmt.Printf("part %d owns rows %d to %d, carry %t\n", i, p.OwnFirst, p.OwnEnd-1, p.StartFlag)
	}
	if err := merge.Rows(y, parts, []float64{0, 1, 2}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output:
	// part 0 owns rows 0 to 0, carry false
	// part 1 owns rows 1 to 2, carry true
	// part 2 owns rows 3 to 3, carry true
	// [11 20 32 40]
}

// Parts by column return whole vectors.
func ExampleSum() {
	y := []float64{1, 1}
	if err := merge.Sum(y, 2, [][]float64{{1, 10}, {2, 20}, {3, 30}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [8 62]
}
