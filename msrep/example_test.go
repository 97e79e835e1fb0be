package msrep_test

import (
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// matrix returns a 3 x 3 matrix:
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

// Compute one product. beta = 0 overwrites y.
func ExampleSpMV() {
	x := []float64{1, 2, 3}
	y := make([]float64, 3)
	if err := msrep.SpMV(context.Background(), msrep.NoTrans, 1, matrix(), x, 0, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [4 27 31]
}

// Compute many products with one matrix, which is split and stored once.
func ExamplePlan() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:2"})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, matrix(), msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()

	x := []float64{1, 1, 1}
	y := []float64{100, 100, 100}
	if err := plan.SpMV(ctx, msrep.NoTrans, 2, x, 1, y); err != nil { // y = 2Ax + y
		log.Fatal(err)
	}
	fmt.Println(y)
	if err := plan.SpMV(ctx, msrep.Trans, 1, x, 0, y); err != nil { // y = A'x
		log.Fatal(err)
	}
	fmt.Println(y)
	for _, s := range plan.Shares() {
		fmt.Printf("device %d: nonzeros %d to %d\n", s.Device, s.Part.StartIdx, s.Part.EndIdx)
	}
	// Output:
	// [116 124 130]
	// [17 9 9]
	// device 0: nonzeros 0 to 2
	// device 1: nonzeros 3 to 5
}

// Multiply several vectors by row at once. The matrix is read once.
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

// Change the values of the matrix in each time step. The structure does not change, so the matrix is not split again.
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
	val := make([]float64, len(a.Val)) // belongs to the plan from UpdateValues to the last product that uses it
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
		fmt.Printf("%.3f\n", u)
	}
	// Output:
	// [0.800 1.200 1.500]
	// [1.000 3.060 3.520]
	// [0.888 11.430 10.548]
}
