package msrep_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// Read a matrix from a file and open devices that the user of the program names.
func ExampleOpen() {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:2"}) // or "", "cuda", "cuda:0,1", ...
	var wrong *sparse.InputError
	if errors.As(err, &wrong) {
		log.Fatalf("%v", wrong) // names the argument, for example devices that do not exist
	} else if err != nil {
		log.Fatal(err)
	}
	defer sys.Close()
	for i, d := range sys.Devices() {
		fmt.Println(i, d.ID, d.Kind)
	}
	a, err := matio.Read(ctx, "../testdata/1138_bus.mtx.gz") // any format, by content and name
	if err != nil {
		log.Fatal(err) // names the file and the line
	}
	defer a.Close() // after the plan, which may use its arrays in place
	plan, err := msrep.NewPlan(ctx, sys, a.CSR, msrep.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer plan.Close()
	rows, cols := plan.Dims()
	fmt.Println(rows, cols, plan.NNZ(), a.Source.Symmetry)
	// Output:
	// 0 cpu:0 cpu
	// 1 cpu:1 cpu
	// 1138 1138 4054 symmetric
}

// Compute results with the same bits on any devices and with any number of threads.
func ExamplePlanOptions_deterministic() {
	ctx := context.Background()
	a, err := matio.Read(ctx, "gen:powerlaw:rows=2000,nnz=40k,r=2.1")
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	x := make([]float64, a.Cols)
	for i := range x {
		x[i] = 1 / float64(i+3)
	}
	product := func(devices string, threads int) []float64 {
		sys, err := msrep.Open(msrep.Config{Devices: devices, Threads: threads})
		if err != nil {
			log.Fatal(err)
		}
		defer sys.Close() // closes the plan as well
		plan, err := msrep.NewPlan(ctx, sys, a.CSR, msrep.PlanOptions{Deterministic: true})
		if err != nil {
			log.Fatal(err)
		}
		y := make([]float64, a.Rows)
		if err := plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
			log.Fatal(err)
		}
		return y
	}
	one, many := product("cpu:1", 1), product("cpu:3", 7)
	same := true
	for i := range one {
		same = same && one[i] == many[i]
	}
	fmt.Println(same)
	// Output: true
}
