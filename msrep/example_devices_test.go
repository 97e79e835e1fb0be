package msrep_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Multiply on all GPUs, or on CPU devices where there is no GPU. Devices "auto" makes the same choice without
// the message. GPUs need a binary that was built with -tags cuda.
func ExampleOpen_gpus() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "cuda"}) // or "cuda:0,1"
	if sparse.IsInput(err) {                              // no GPU, no driver, or no -tags cuda
		fmt.Fprintln(os.Stderr, err)
		sys, err = msrep.Open(msrep.Config{Devices: "cpu"})
	}
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, matrix(), msrep.PlanOptions{Expected: msrep.Expected{Products: 1000}})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	y := make([]float64, 3)
	if err := plan.SpMV(ctx, msrep.NoTrans, 1, []float64{1, 2, 3}, 0, y); err != nil {
		log.Fatal(err)
	}
	fmt.Println(y)
	// Output: [4 27 31]
}

// Keep the vectors on the devices between products: no product copies them to or from host memory.
func ExamplePlan_Apply() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close() // also closes the plan and the vectors
	plan, err := msrep.NewPlan(ctx, sys, matrix(), msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	x, errX := plan.ColumnVector()
	y, errY := plan.RowVector()
	if err := errors.Join(errX, errY); err != nil {
		log.Fatal(err)
	}
	if err := x.Write([]float64{1, 2, 3}); err != nil { // from host memory to the devices
		log.Fatal(err)
	}
	if err := plan.Apply(ctx, msrep.NoTrans, 1, x, 0, y); err != nil { // y = A x
		log.Fatal(err)
	}
	result := make([]float64, 3)
	if err := y.Read(result); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result)
	// Output: [4 27 31]
}

// Store each value in two segments and read only the first: 20 bits of mantissa, and two thirds of the bytes of
// a product with plain values. Sums are in float64.
func ExamplePlanOptions_precision() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	a, err := sparse.NewCSR(2, 2, []int64{0, 1, 3}, []int32{0, 0, 1}, []float64{1.5, 1. / 3, 2})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Storage: msrep.Storage{Segments: msrep.Segments{Count: 2, Read: 1}}})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	y := make([]float64, 2)
	if err := plan.SpMV(ctx, msrep.NoTrans, 1, []float64{3, 1}, 0, y); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f %.8f\n", y[0], y[1])
	// Output: 4.5000 2.99999976
}
