package msrep_test

import (
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// matrix returns the 3 x 3 matrix
//
//	10  0 -2
//	 0  9  3
//	 7  0  8
func matrix() *sparse.CSR[float64] {
	a, err := sparse.NewCSR(3, 3,
		[]int64{0, 2, 4, 6},
		[]int32{0, 2, 1, 2, 0, 2},
		[]float64{10, -2, 9, 3, 7, 8})
	if err != nil {
		log.Fatal(err)
	}
	return a
}

// Multiply once: y = A x. beta = 0 overwrites y.
func ExampleSpMV() {
	x := []float64{1, 2, 3}
	y := make([]float64, 3)
	if err := msrep.SpMV(context.Background(), msrep.NoTrans, 1, matrix(), x, 0, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [4 27 31]
}

// Multiply many times by one matrix: NewPlan splits and packs it once.
func ExamplePlan() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{}) // all devices
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, matrix(), msrep.PlanOptions{Expected: msrep.Expected{Products: 3}})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	x, y := []float64{1, 1, 1}, make([]float64, 3)
	for range 3 {
		if err := plan.SpMV(ctx, msrep.NoTrans, 0.1, x, 0, y); err != nil { // y = 0.1 A x
			log.Fatal(err)
		}
		x, y = y, x
		fmt.Printf("%.3f\n", x)
	}
	// Output:
	// [0.800 1.200 1.500]
	// [0.500 1.530 1.760]
	// [0.148 1.905 1.758]
}

// Multiply several vectors at once, the columns of x: the matrix is read once for all of them.
func ExamplePlan_SpMM() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, matrix(), msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	x := msrep.MultiVectorByRow([]float64{
		1, 1,
		0, 2,
		0, 3,
	}, 2)
	y := msrep.MultiVectorByRow(make([]float64, 6), 2)
	if err := plan.SpMM(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y.Val)
	// Output: [10 4 0 27 7 31]
}

// Change the values of a matrix in each step of a time loop. Its structure stays the same, so the plan is not
// made again.
func ExamplePlan_UpdateValues() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	a := matrix()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	u, next := []float64{1, 1, 1}, make([]float64, 3)
	val := make([]float64, len(a.Val)) // the plan may read it in place: change it only between products
	for step := range 3 {
		for k, v := range a.Val {
			val[k] = v * float64(step+1) / 10
		}
		if err := plan.UpdateValues(ctx, val); err != nil {
			log.Fatal(err)
		}
		if err := plan.SpMV(ctx, msrep.NoTrans, 1, u, 0, next); err != nil {
			log.Fatal(err)
		}
		u, next = next, u
	}
	fmt.Printf("%.3f\n", u)
	// Output: [0.888 11.430 10.548]
}
