package factor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// A system with zeros on the diagonal, which Jacobi cannot divide by.
func ExampleNewILUT() {
	a, err := sparse.FromTriples(3, 3, []int32{0, 1, 1, 2, 2}, []int32{1, 0, 2, 1, 2}, []float64{2, 4, 1, 1, 5})
	if err != nil {
		log.Fatal(err)
	}
	m, err := factor.NewILUT(context.Background(), a, factor.ILUTOptions{})
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(context.Background(), sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	x := make([]float64, 3)
	result, err := solver.GMRES(context.Background(), plan, []float64{2, 5, 6}, x, solver.Options{Precond: m})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("x = %.3f after %d iteration\n", x, result.Iterations)
	// Output: x = [1.000 1.000 1.000] after 1 iteration
}

// The factors of a tridiagonal matrix have no other entries than the matrix: they are exact.
func ExampleNewILU0() {
	a, err := sparse.FromTriples(3, 3, []int32{0, 0, 1, 1, 1, 2, 2}, []int32{0, 1, 0, 1, 2, 1, 2}, []float64{4, 1, 1, 4, 1, 1, 4})
	if err != nil {
		log.Fatal(err)
	}
	m, err := factor.NewILU0(context.Background(), a, factor.ILU0Options{})
	if err != nil {
		log.Fatal(err)
	}
	z := make([]float64, 3)
	if err := m.Apply([]float64{5, 6, 5}, z); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", z)
	// Output: [1.000 1.000 1.000]
}

func ExampleNewIC0() {
	a, err := sparse.FromTriples(3, 3, []int32{0, 1, 1, 2, 2}, []int32{0, 0, 1, 1, 2}, []float64{4, -2, 5, -2, 5})
	if err != nil {
		log.Fatal(err)
	}
	m, err := factor.NewIC0(context.Background(), a, factor.IC0Options{}) // it reads the lower triangle
	if err != nil {
		log.Fatal(err)
	}
	l := m.Lower()
	fmt.Println(l.ColIdx, l.Val)
	// Output: [0 0 1 1 2] [1 -0.5 1 -0.5 1]
}

// Each of two processes or devices takes the rows of one block.
func ExampleNewBlocks() {
	a, err := sparse.FromTriples(4, 4, []int32{0, 0, 1, 1, 2, 2, 3, 3}, []int32{0, 1, 0, 1, 2, 3, 2, 3}, []float64{2, 1, 1, 2, 4, 1, 1, 4})
	if err != nil {
		log.Fatal(err)
	}
	m, err := factor.NewBlocks(context.Background(), a, []int{0, 2}, func(ctx context.Context, block *sparse.CSR[float64]) (factor.Preconditioner, error) {
		return factor.NewILU0(ctx, block, factor.ILU0Options{})
	})
	if err != nil {
		log.Fatal(err)
	}
	z := make([]float64, 4)
	if err := m.Apply([]float64{3, 3, 5, 5}, z); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", z)
	// Output: [1.000 1.000 1.000 1.000]
}
