package msrep_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Compute two random walks with restart (personalised PageRank) at once: p = 0.85 * P'p + 0.15 * e, where row i of P
// divides 1 equally among the links from node i. Node 0 links to 1 and 2, node 1 to 2, and node 2 to 0.
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
	plan, err := msrep.NewPlan(ctx, sys, p, msrep.PlanOptions{Expected: msrep.Expected{Transposed: 100}})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	starts := []float64{ // by row: the first walk starts at node 0, the second at node 2
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
