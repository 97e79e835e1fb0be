package msrep_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Use GPUs if there are any, otherwise CPU devices, as "auto" does, but report the reason. GPUs need a binary that was
// built with -tags cuda.
func ExampleOpen_gpus() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "cuda"})
	if sparse.IsInput(err) { // no GPU, no driver, or a binary without the tag
		fmt.Fprintln(os.Stderr, err)
		sys, err = msrep.Open(msrep.Config{Devices: "cpu"})
	}
	if err != nil {
		log.Fatal(err)
	}
	defer sys.Close() // closes the plan and the vectors as well
	plan, err := msrep.NewPlan(ctx, sys, matrix(), msrep.PlanOptions{Expected: msrep.Expected{Products: 1000}})
	if err != nil {
		log.Fatal(err)
	}
	x, err := plan.ColumnVector() // its pieces stay on the devices
	if err != nil {
		log.Fatal(err)
	}
	y, err := plan.RowVector()
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Write([]float64{1, 2, 3}); err != nil {
		log.Fatal(err)
	}
	if err := plan.Apply(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
		log.Fatal(err)
	}
	sums := make([]float64, 3)
	if err := y.Read(sums); err != nil {
		log.Fatal(err)
	}
	fmt.Println(sums)
	// Output: [4 27 31]
}

// Cut values into two segments and read only the first: 20 bits of mantissa, in two thirds of the bytes. Sums are
// computed in float64.
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
