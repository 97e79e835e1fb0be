package cluster_test

import (
	"context"
	"fmt"
	"log"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse/gen"
)

// Two ranks multiply, each by its own rows. They are goroutines here; in an MPI run they are processes that use the
// Comm of mpi.Start.
func ExampleRun() {
	ctx := context.Background()
	rank := func(comm cluster.Comm) error {
		sys, err := cluster.Open(comm, msrep.Config{Devices: "cpu:1"})
		if err != nil {
			return err
		}
		defer sys.Close()
		a, _, err := gen.Generate("stencil:dims=2,n=2") // cluster.Read reads a file
		if err != nil {
			return err
		}
		m, err := cluster.Slice(comm, a, 1)
		if err != nil {
			return err
		}
		plan, err := cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{})
		if err != nil {
			return err
		}
		defer plan.Close()
		rows, cols := plan.Dims() // of this rank's pieces
		x, y := make([]float64, cols), make([]float64, rows)
		for i := range x {
			x[i] = float64(m.First() + i)
		}
		if err := plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
			return err
		}
		whole, err := cluster.Gather(comm, y)
		if err == nil && comm.Rank() == 0 {
			fmt.Println(whole)
		}
		return err
	}
	for _, err := range cluster.Run(2, rank) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output: [-3 1 5 9]
}
