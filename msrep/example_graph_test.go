package msrep_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Random walks from two nodes of a graph at once, each of which begins anew with
// probability 0.15 (personalised PageRank): p = 0.85 * P'p + 0.15 * e, where row i of P
// shares 1 among the links from node i. Here 0 links to 1 and 2, 1 to 2, and 2 to 0.
func ExamplePlan_SpMM_transposed() {
	ctx := context.Background()
	p, err := sparse.NewCSR(3, 3, []int64{0, 2, 3, 4}, []int32{1, 2, 2, 0}, []float64{0.5, 0.5, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, p, msrep.PlanOptions{Expected: msrep.Expected{Transposed: 100, Vectors: 2}})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	starts := []float64{ // row by row: node 0 of the first walk, node 2 of the second
		1, 0,
		0, 0,
		0, 1,
	}
	rank, next := msrep.MultiVectorByRow(slices.Clone(starts), 2), msrep.MultiVectorByRow(make([]float64, 6), 2)
	for range 100 {
		for i, s := range starts {
			next.Val[i] = 0.15 * s
		}
		if err := plan.SpMM(ctx, msrep.Trans, 0.85, rank, 1, next); err != nil { // beta = 1 adds to next
			log.Fatal(err)
		}
		rank, next = next, rank
	}
	for i := range p.Rows {
		fmt.Printf("node %d: %.4f\n", i, rank.Val[2*i:2*i+2])
	}
	// Output:
	// node 0: [0.4522 0.3844]
	// node 1: [0.1922 0.1634]
	// node 2: [0.3556 0.4522]
}
