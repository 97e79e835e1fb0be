// Recommend suggests dependencies for packages, from what similar packages depend on.
//
// The ratings are the dependencies of Debian's Python packages. A truncated singular value decomposition, A = U S V', gives
// each package a row of U and each dependency a row of V: what a package would like is the row of A V V'. To see how good
// that is, one dependency of each tenth package is hidden, and must be among the ten best suggestions.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/eigen"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

const factors, suggestions = 50, 10

func main() {
	ctx := context.Background()
	edges, err := matio.ReadEdges(ctx, "examples/data/debian-python.csv.gz", matio.EdgeOptions{})
	check(err)
	a, hidden := hide(edges.Matrix)
	sys, err := msrep.Open(msrep.Config{})
	check(err)
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	check(err)
	defer plan.Close()
	svd, err := eigen.Singular(ctx, plan, eigen.Options{Count: factors, Tol: 1e-4})
	check(err)

	found, popular := 0, 0
	links := make([]float64, a.Cols) // how many packages have each dependency
	for _, j := range a.ColIdx {
		links[j]++
	}
	for i, j := range hidden {
		scores := make([]float64, a.Cols)
		for k, v := range svd.V {
			taste := svd.Values[k] * svd.U[k][i]
			for d := range scores {
				scores[d] += taste * v[d]
			}
		}
		found += within(scores, a, i, j)
		popular += within(links, a, i, j)
	}
	fmt.Printf("the hidden dependency is among the %d best suggestions for %d of %d packages (%d by popularity alone)\n",
		suggestions, found, len(hidden), popular)
}

// hide removes the last dependency of each tenth package with more than three, and returns the rest and what is hidden.
func hide(a *sparse.CSR[float64]) (rest *sparse.CSR[float64], hidden map[int]int32) {
	var rows, cols []int32
	var val []float64
	hidden = map[int]int32{}
	for i := range a.Rows {
		own := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
		if i%10 == 0 && len(own) > 3 {
			hidden[i] = own[len(own)-1]
			own = own[:len(own)-1]
		}
		for _, j := range own {
			rows, cols, val = append(rows, int32(i)), append(cols, j), append(val, 1)
		}
	}
	rest, err := sparse.FromTriples(a.Rows, a.Cols, rows, cols, val)
	check(err)
	return rest, hidden
}

// within returns 1 if j is among the best suggestions for package i, which does not have it yet.
func within(scores []float64, a *sparse.CSR[float64], i int, j int32) int {
	better := 0
	for d := range scores {
		if scores[d] > scores[j] {
			better++
		}
	}
	for _, d := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
		if scores[d] > scores[j] {
			better-- // the package has it: no suggestion
		}
	}
	if better < suggestions {
		return 1
	}
	return 0
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
