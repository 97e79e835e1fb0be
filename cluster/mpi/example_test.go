//go:build mpi

package mpi_test

import (
	"context"
	"fmt"
	"os"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/cluster/mpi"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
)

// All ranks solve a linear system together, each with its rows. Build it with CC=mpicc go build -tags mpi and start
// it with mpirun -n 4.
func Example() {
	comm, err := mpi.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	err = solve(context.Background(), comm)
	switch {
	case err != nil && !cluster.Agreed(err): // the other ranks wait for this one
		fmt.Fprintf(os.Stderr, "rank %d: %v\n", comm.Rank(), err)
		comm.Abort(1)
	case err != nil && comm.Rank() == 0:
		fmt.Fprintln(os.Stderr, err)
	}
	comm.Close()
	if err != nil {
		os.Exit(1)
	}
}

func solve(ctx context.Context, comm cluster.Comm) error {
	sys, err := cluster.Open(comm, msrep.Config{})
	if err != nil {
		return err
	}
	defer sys.Close()
	m, _, err := cluster.Read(ctx, sys, "matrix.mtx.gz", 1) // symmetric positive definite
	if err != nil {
		return err
	}
	plan, err := cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{})
	if err != nil {
		return err
	}
	defer plan.Close()
	rows, _ := plan.Dims() // of this rank's pieces
	b, x := make([]float64, rows), make([]float64, rows)
	for i := range b {
		b[i] = 1
	}
	res, err := solver.CG(ctx, plan, b, x, solver.Options{})
	if err == nil && comm.Rank() == 0 {
		fmt.Println(res.Iterations, res.Residual)
	}
	return sys.Agree(err) // all ranks return the error if the solver did not converge
}
