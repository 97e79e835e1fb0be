package graph_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// Rank the nodes of a graph with the links 0 -> 2, 1 -> 2 and 2 -> 0. The values of the matrix are not used.
func ExamplePageRank() {
	links, err := sparse.NewCSR(3, 3, []int64{0, 1, 2, 3}, []int32{2, 2, 0}, []float64{1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	res, err := graph.PageRank(context.Background(), sys, links, graph.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f %t\n", res.Ranks, res.Converged)
	// Output: [0.4635 0.0500 0.4865] true
}

// Rank one graph twice: in float64, and in adaptive precision, which reads 32 bits of each rank until it needs 64.
func ExampleGraph_PageRank() {
	ctx := context.Background()
	links, _, err := gen.Generate("stencil:n=50,points=5") // each cell links to its neighbours and itself
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	g, err := graph.New(ctx, links, graph.FormatAuto)
	if err != nil {
		log.Fatal(err)
	}
	plain, err := g.PageRank(ctx, sys, graph.Options{})
	if err != nil {
		log.Fatal(err)
	}
	adaptive, err := g.PageRank(ctx, sys, graph.Options{Precision: graph.CPMS2})
	if err != nil {
		log.Fatal(err)
	}
	var difference float64
	for i, r := range plain.Ranks {
		difference += math.Abs(r - adaptive.Ranks[i])
	}
	fmt.Println(adaptive.BySegments[1] > 0, adaptive.BySegments[2] > 0, difference < 1e-9) // iterations with 32 and 64 bits
	// Output: true true true
}
