package solver_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// Solve A x = b with a symmetric positive definite matrix. x is the first guess, and CG overwrites it with the solution.
func ExampleCG() {
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
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	jacobi, err := solver.Jacobi(a)
	if err != nil {
		log.Fatal(err)
	}
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	b[0] = 1
	res, err := solver.CG(ctx, plan, b, x, solver.Options{Tol: 1e-10, Precond: jacobi})
	if err != nil {
		log.Fatal(err) // a *solver.ConvergenceError where it did not converge
	}
	fmt.Println(res.Converged, res.Residual <= 1e-10)
	// Output: true true
}

// planOfGrid returns a plan for the 5-point stencil of a grid. The program closes sys.
func planOfGrid(ctx context.Context) (sys *msrep.System, plan *msrep.Plan[float64], a *sparse.CSR[float64]) {
	a, _, err := gen.Generate("stencil:n=50,points=5")
	if err != nil {
		log.Fatal(err)
	}
	if sys, err = msrep.Open(msrep.Config{}); err != nil {
		log.Fatal(err)
	}
	if plan, err = msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{}); err != nil {
		log.Fatal(err)
	}
	return sys, plan, a
}

// Solve with a symmetric matrix that need not be positive definite.
func ExampleMINRES() {
	ctx := context.Background()
	sys, plan, a := planOfGrid(ctx)
	defer sys.Close()
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	b[0] = 1
	res, err := solver.MINRES(ctx, plan, b, x, solver.Options{})
	if errors.Is(err, solver.ErrInconsistent) {
		log.Fatal("no solution: the matrix is singular")
	}
	fmt.Println(res.Converged, err)
	// Output: true <nil>
}

// Solve with any square matrix, in vectors of fixed number.
func ExampleIDR() {
	ctx := context.Background()
	sys, plan, a := planOfGrid(ctx)
	defer sys.Close()
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	b[0] = 1
	res, err := solver.IDR(ctx, plan, b, x, solver.Options{})
	fmt.Println(res.Converged, err)
	// Output: true <nil>
}

// rough is a preconditioner that solves A z = r by 10 iterations of BiCGSTAB.
type rough struct {
	ctx context.Context
	a   *msrep.Plan[float64]
}

func (s rough) Size() int {
	rows, _ := s.a.Dims()
	return rows
}

func (s rough) Apply(r, z []float64) error {
	clear(z) // the first guess
	_, err := solver.BiCGSTAB(s.ctx, s.a, r, z, solver.Options{Tol: 1e-2, MaxIter: 10})
	if errors.Is(err, solver.ErrNotConverged) {
		return nil // z is better than nothing
	}
	return err
}

// The preconditioner of FGMRES may be a solve, which differs in each iteration.
func ExampleFGMRES() {
	ctx := context.Background()
	sys, plan, a := planOfGrid(ctx)
	defer sys.Close()
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	b[0] = 1
	res, err := solver.FGMRES(ctx, plan, b, x, solver.Options{Precond: rough{ctx, plan}})
	fmt.Println(res.Converged, err)
	// Output: true <nil>
}

// Fit a line y = x[0] + x[1]*t to four points: the least squares solution of 4 equations with 2 unknowns.
func ExampleLSMR() {
	ctx := context.Background()
	a, err := sparse.NewCSR(4, 2, []int64{0, 2, 4, 6, 8}, []int32{0, 1, 0, 1, 0, 1, 0, 1}, []float64{1, 0, 1, 1, 1, 2, 1, 3})
	if err != nil {
		log.Fatal(err)
	}
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	x := make([]float64, 2)
	res, err := solver.LSMR(ctx, plan, []float64{1, 3, 4, 4}, x, solver.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f %t\n", x, res.LeastSquares)
	// Output: [1.500 1.000] true
}

// Refine x with a preconditioner until the residual in float64 is small.
func ExampleRichardson() {
	ctx := context.Background()
	sys, plan, a := planOfGrid(ctx)
	defer sys.Close()
	b, x := make([]float64, a.Rows), make([]float64, a.Rows)
	b[0] = 1
	res, err := solver.Richardson(ctx, plan, b, x, solver.Options{Tol: 1e-12, Precond: rough{ctx, plan}})
	fmt.Println(res.Converged, err)
	// Output: true <nil>
}

// Solve for several right-hand sides at once: each iteration reads the matrix once for all of them.
func ExampleCGMany() {
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
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	b, x := msrep.MultiVectorByRow(make([]float64, 3*a.Rows), 3), msrep.MultiVectorByRow(make([]float64, 3*a.Rows), 3)
	for j := range b.Count {
		b.Val[j*b.Stride+j] = 1 // b_j is column j of the identity
	}
	results, err := solver.CGMany(ctx, plan, b, x, solver.Options{})
	if err != nil {
		log.Fatal(err) // names the systems that were not solved
	}
	for _, r := range results {
		fmt.Print(r.Converged, r.Residual <= solver.DefaultTol, " ")
	}
	// Output: true true true true true true
}

// Solve by iterative refinement: the inner solves multiply by the float32 matrix, and the residual is computed with the
// float64 matrix.
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
