// Packages ranks packages by who depends on them: PageRank of the dependencies of Debian's Python packages.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse/matio"
)

func main() {
	ctx := context.Background()
	edges, err := matio.ReadEdges(ctx, "examples/data/debian-python.csv.gz", matio.EdgeOptions{})
	check(err)
	sys, err := msrep.Open(msrep.Config{})
	check(err)
	defer sys.Close()
	all, err := graph.PageRank(ctx, sys, edges.Matrix, graph.Options{})
	check(err)
	fmt.Printf("%d packages, %d dependencies, %d iterations\n", len(edges.IDs), edges.Matrix.NNZ(), all.Iterations)
	print("of all packages", edges.IDs, all.Ranks)

	// Personalised: what one package stands on.
	teleport := make([]float64, len(edges.IDs))
	teleport[slices.Index(edges.IDs, "python3-scipy")] = 1
	own, err := graph.PageRank(ctx, sys, edges.Matrix, graph.Options{Teleport: teleport})
	check(err)
	print("for python3-scipy", edges.IDs, own.Ranks)
}

// print prints the five highest ranks.
func print(title string, ids []string, ranks []float64) {
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(ranks[j], ranks[i]) })
	fmt.Println(title)
	for _, i := range order[:5] {
		fmt.Printf("  %.4f  %s\n", ranks[i], ids[i])
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
