package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// applies checks two products of vectors that stay on the devices. If the matrix is square, the second multiplies the
// result of the first.
func applies[V sparse.Value](t *rapid.T) {
	a := randomMatrix[V](t)
	devices := rapid.SampledFrom([]string{"sim:1", "sim:2", "sim:3", "cpu:2"}).Draw(t, "devices")
	ranks := rapid.SampledFrom([]int{1, 2, 3, 5}).Draw(t, "ranks")
	op := msrep.Transpose(rapid.Bool().Draw(t, "transpose"))
	alpha := V(rapid.SampledFrom([]float64{0, 1, -1.25}).Draw(t, "alpha"))
	beta := V(rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(t, "beta"))
	opt := msrep.PlanOptions{
		Deterministic: rapid.Bool().Draw(t, "deterministic"),
		Expected:      msrep.Expected{Transposed: rapid.SampledFrom([]int{0, 10}).Draw(t, "transposed")},
	}
	if opt.Deterministic {
		opt.Expected.Transposed = 10
	}
	resident := devices[:3] == "sim" && !opt.Deterministic
	rows, cols := a.Rows, a.Cols
	if op == msrep.Trans {
		rows, cols = cols, rows
	}
	x, y := randomVector[V](cols, 1), randomVector[V](rows, 2)
	if beta == 0 && rows > 0 {
		y[rows/2] = V(math.NaN())
	}
	want := reference.Multiply[V](bool(op), alpha, a, x, beta, y)
	var got []V
	onRanks(t, ranks, msrep.Config{Devices: devices, Threads: 2}, func(sys *System) error {
		p, xCut, yCut, err := planOf(sys, a, opt, 1, op)
		if err != nil {
			return err
		}
		defer p.Close()
		r := sys.Comm().Rank()
		if p.Resident(op) != resident {
			return fmt.Errorf("resident: %v", p.Resident(op))
		}
		if devices[:3] == "sim" && p.Messages() != "pinned" && len(p.out.host) > 0 {
			return fmt.Errorf("messages in %s memory", p.Messages())
		}
		xOf, yOf := p.ColumnVector, p.RowVector
		if op == msrep.Trans {
			xOf, yOf = yOf, xOf
		}
		vx, err := xOf()
		if err != nil {
			return err
		}
		defer vx.Close()
		vy, err := yOf()
		if err != nil {
			return err
		}
		defer vy.Close()
		defer func() {
			_ = p.Close()
			if _, err := xOf(); !errors.Is(err, msrep.ErrClosed) {
				panic(fmt.Sprintf("a vector of a closed plan: %v", err))
			}
		}()
		piece := make([]V, vy.Len())
		for range 2 { // the second product finds everything allocated
			if err := vx.Write(x[xCut[r]:xCut[r+1]]); err != nil {
				return err
			}
			if err := vy.Write(y[yCut[r]:yCut[r+1]]); err != nil {
				return err
			}
			if err := p.Apply(ctx, op, alpha, vx, beta, vy); err != nil {
				return err
			}
			if err := vy.Read(piece); err != nil {
				return err
			}
			if whole, err := Gather(sys.Comm(), piece); r != 0 {
				continue
			} else if got = whole; err != nil || reference.Check(got, want) >= 0 {
				return fmt.Errorf("element %d is wrong: %v", reference.Check(got, want), err)
			}
		}
		return nil
	})
}

func TestProductsOfVectorsOnDevicesAreRight(t *testing.T) {
	rapid.Check(t, applies[float64])
	rapid.Check(t, applies[float32])
}

func TestSolversKeepVectorsOnTheDevicesOfAllRanks(t *testing.T) {
	const n, ranks = 10, 3
	a, err := matio.Read(ctx, "gen:stencil:dims=2,n=10")
	require.NoError(t, err)
	b := randomVector[float64](n*n, 3)
	for _, c := range []struct {
		name, devices string
		solve         func(context.Context, solver.Operator, []float64, []float64, solver.Options) (*solver.Result, error)
	}{{"cg", "sim:1", solver.CG}, {"bicgstab", "sim:2", solver.BiCGSTAB}, {"minres", "sim:2", solver.MINRES}, {"lsmr", "sim:1", solver.LSMR}} {
		var crossed, products atomic.Int64 // bytes between hosts and devices, after the first product
		count := func(e msrep.Event) {
			if e.Name == "read" || e.Name == "write" {
				crossed.Add(e.Bytes)
			}
		}
		var x []float64
		onRanks(t, ranks, msrep.Config{Devices: c.devices, Trace: count}, func(sys *System) error {
			m, err := Slice(sys.Comm(), a.CSR, 1)
			if err != nil {
				return err
			}
			jacobi, err := Jacobi(m)
			if err != nil {
				return err
			}
			first, own := m.First(), m.Part.Rows
			p, err := NewPlan(ctx, sys, m, msrep.PlanOptions{})
			if err != nil {
				return err
			}
			defer p.Close()
			piece := make([]float64, own)
			_, err = c.solve(ctx, p, b[first:first+own], piece, solver.Options{Tol: 1e-6, Precond: jacobi, Progress: func(i int, _ float64) {
				if i == 1 {
					crossed.Store(0)
				}
			}})
			if err != nil {
				return err
			}
			_, count := p.Times()
			products.Store(count)
			whole, err := Gather(sys.Comm(), piece)
			if sys.Comm().Rank() == 0 {
				x = whole
			}
			return err
		})
		residual := reference.Multiply[float64](false, -1, a.CSR, x, 1, b)
		require.Less(t, norm(residual.Y), 1.01e-6*norm(b), "%s on %s", c.name, c.devices)
		// A product moves one row of the grid in each direction over two borders, from a device and to a device. The
		// sums of an iteration are a few numbers, and x goes to the host once.
		halo := int64(2 * 2 * 2 * n * 8)
		require.Less(t, crossed.Load(), n*n*8+products.Load()*(halo+ranks*8*8), "%s on %s", c.name, c.devices)
	}
}

func norm(v []float64) float64 {
	var sum float64
	for _, e := range v {
		sum += e * e
	}
	return math.Sqrt(sum)
}
