//go:build mpi

package mpi_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// MSREP_DEVICES names the devices of this test: by default simulated GPUs, whose messages use pinned memory, or
// cuda:0, for which MSREP_MPI_DEVICE chooses the memory of messages.
func TestVectorsThatStayOnDevicesAgreeWithOneProcess(t *testing.T) {
	devices := cmp.Or(os.Getenv("MSREP_DEVICES"), "sim:1")
	memory := "pinned"
	if strings.HasPrefix(devices, "cuda") && os.Getenv("MSREP_MPI_DEVICE") == "on" {
		memory = "device"
	}
	sys, err := cluster.Open(comm, msrep.Config{Devices: devices})
	must(t, err)
	defer sys.Close()
	const path = "gen:stencil:dims=2,n=14"
	for _, op := range []msrep.Transpose{msrep.NoTrans, msrep.Trans} {
		m, _, err := cluster.Read(ctx, sys, path, 1)
		must(t, err)
		for k := range m.Part.Val { // makes the matrix unsymmetric
			m.Part.Val[k] *= 1 + float64(m.Part.ColIdx[k]%7)
		}
		n, first, own := m.Rows, m.First(), m.Part.Rows
		p, err := cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{Expected: msrep.Expected{Transposed: 10}})
		must(t, err)
		check(t, p.Resident(op), "op %v is not resident", op)
		check(t, comm.Size() == 1 || p.Messages() == memory, "messages use %s memory, want %s", p.Messages(), memory)
		x, err := p.ColumnVector()
		must(t, err)
		y, err := p.RowVector()
		must(t, err)
		must(t, x.Write(sines(first, own)))
		must(t, y.Write(sines(first, own)))
		for range 3 { // each result is the x of the next product
			must(t, p.Apply(ctx, op, 0.25, x, -0.7, y))
			x, y = y, x
		}
		piece := make([]float64, own)
		must(t, x.Read(piece))
		must(t, x.Close())
		must(t, y.Close())
		// Products of host vectors in between use the same messages.
		z := sines(first, own)
		err = p.SpMV(ctx, op, 0.25, sines(first, own), -0.7, z)
		must(t, err)
		got, err := cluster.Gather(comm, piece)
		must(t, err)
		once, err := cluster.Gather(comm, z)
		must(t, err)
		must(t, p.Close())
		alone(t, path, func(a *sparse.CSR[float64], _ *msrep.System) {
			for k := range a.Val {
				a.Val[k] *= 1 + float64(a.ColIdx[k]%7)
			}
			x, y := sines(0, n), sines(0, n)
			want := reference.Multiply[float64](bool(op), 0.25, a, x, -0.7, y)
			at := reference.Check(once, want)
			check(t, at < 0, "op %v, host vectors: element %d is wrong", op, at)
			for range 3 {
				x, y = reference.Multiply[float64](bool(op), 0.25, a, x, -0.7, y).Y, x
			}
			for i := range x {
				check(t, near(x[i], got[i]), "op %v: element %d is %v, in one process %v", op, i, got[i], x[i])
			}
		})
	}
	cgOnDevices(t, sys, path)
}

// near compares numbers with the rounding errors of three products of few terms.
func near(want, got float64) bool {
	return want-got <= 1e-12*(1+max(want, -want)) && got-want <= 1e-12*(1+max(want, -want))
}

func cgOnDevices(t *testing.T, sys *cluster.System, path string) {
	const tol = 1e-9
	m, _, err := cluster.Read(ctx, sys, path, 1)
	must(t, err)
	n, first, own := m.Rows, m.First(), m.Part.Rows
	jacobi, err := cluster.Jacobi(m)
	must(t, err)
	p, err := cluster.NewPlan(ctx, sys, m, msrep.PlanOptions{})
	must(t, err)
	x := make([]float64, own)
	_, err = solver.CG(ctx, p, sines(first, own), x, solver.Options{Tol: tol, Precond: jacobi})
	must(t, err)
	got, err := cluster.Gather(comm, x)
	must(t, err)
	must(t, p.Close())
	alone(t, path, func(a *sparse.CSR[float64], sys *msrep.System) {
		p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{})
		must(t, err)
		want := make([]float64, n)
		_, err = solver.CG(ctx, p, sines(0, n), want, solver.Options{Tol: tol})
		must(t, err)
		for i := range want {
			d := want[i] - got[i]
			check(t, d*d < 1e-12, "cg: element %d is %v, in one process %v", i, got[i], want[i])
		}
	})
}
