package solver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// Iterative refinement: the solves inside read the float32 matrix, the residual is
// computed with the float64 one.
func ExampleRefine() {
	ctx := context.Background()
	a, _, err := gen.Generate("stencil:n=50,points=5")
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	double, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	single, err := msrep.NewPlan(ctx, sys, sparse.Convert[float32](a), msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range b {
		b[i] = 1
	}
	res, err := solver.Refine(ctx, double, solver.Single(single), solver.CG, b, x, solver.Options{Tol: 1e-12}, solver.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Converged, res.Residual <= 1e-12, res.Iterations < 10)
	// Output: true true true
}
