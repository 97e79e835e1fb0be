package solver

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/sparse"
)

// traffic counts the bytes copied to and from the host, the bytes copied between devices, and the waits.
type traffic struct {
	mu                   sync.Mutex
	host, between, waits int64
}

func (c *traffic) hear(e msrep.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Name {
	case "read", "write":
		c.host += e.Bytes
	case "copy":
		c.between += e.Bytes
	case "sync":
		c.waits++
	}
}

func (c *traffic) now() traffic {
	c.mu.Lock()
	defer c.mu.Unlock()
	return traffic{host: c.host, between: c.between, waits: c.waits}
}

// identity is a preconditioner without special treatment in solvers.
type identity struct{ n int }

func (i identity) Size() int { return i.n }

func (i identity) Apply(r, z []float64) error {
	copy(z, r)
	return nil
}

func TestMethodsFindTheSameSolutionsOnDevicesAndOnTheHost(t *testing.T) {
	a := laplacian(t, "stencil:n=6,points=5")
	for i := range a.Rows { // rows of different sizes, so that Jacobi has something to do
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			a.Val[k] *= (1 + float64(i%5)) * (1 + float64(a.ColIdx[k]%5))
		}
	}
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	blocks, err := BlockJacobi(a, 6)
	require.NoError(t, err)
	for name, method := range allMethods() {
		if strings.HasSuffix(name, "int32") { // in host memory only
			continue
		}
		for pre, m := range map[string]Preconditioner{"none": nil, "jacobi": jacobi, "blocks": blocks, "own": identity{a.Rows}} {
			if name == "power" || name == "refine" && pre != "none" || name != "cg" && pre == "own" { // which is applied like blocks
				continue
			}
			if pre == "blocks" && slices.Contains([]string{"minres", "idr", "lsmr"}, name) { // slow
				continue
			}
			var want []float64
			var expected *Result
			for _, devices := range []string{"cpu:1", "sim:1", "sim:2"} {
				x := make([]float64, a.Rows)
				x[3] = 2 // a guess
				res, err := method(t.Context(), planOn(t, devices, a), sines(a.Rows), x, Options{Tol: 1e-9, Precond: m, Restart: 20})
				require.NoError(t, err, "%s, %s on %s", name, pre, devices)
				if want == nil {
					want, expected = x, res
					continue
				}
				require.InDelta(t, expected.Iterations, res.Iterations, 3+0.3*float64(expected.Iterations), "%s, %s on %s", name, pre, devices)
				for i := range want {
					require.InDelta(t, want[i], x[i], 1e-6*(1+math.Abs(want[i])), "%s, %s on %s", name, pre, devices)
				}
			}
		}
	}
}

func TestIterationsOnDevicesCopyNoVectorToTheHost(t *testing.T) {
	a := laplacian(t, "stencil:n=40,points=5")
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	for _, devices := range []int64{1, 2} {
		for name, most := range map[string]struct{ sums, waits int64 }{
			// The sums that each device copies to the host in an iteration, and the waits for them.
			"cg": {5, 1}, "bicgstab": {7, 4}, "gmres": {2*9 + 1, 3}, "fgmres": {2*9 + 1, 3}, "minres": {3, 3}, "idr": {12, 4}, "lsmr": {3, 3}, "power": {3, 3},
		} {
			var heard traffic
			sys := openAs(t, msrep.Config{Devices: fmt.Sprintf("sim:%d", devices), Trace: heard.hear})
			plan := planOf(t, sys, sparse.Matrix[float64](a), msrep.PlanOptions{})
			const from, to = 2, 8
			var before, after traffic
			opt := Options{Tol: 1e-14, MaxIter: to, Precond: jacobi, Progress: func(i int, _ float64) {
				switch i {
				case from:
					before = heard.now()
				case to:
					after = heard.now()
				}
			}}
			x := make([]float64, a.Rows)
			_, err = allMethods()[name](t.Context(), plan, sines(a.Rows), x, opt)
			require.ErrorIs(t, err, ErrNotConverged)
			n := int64(to - from)
			require.Positive(t, after.host-before.host, name)
			require.LessOrEqual(t, after.host-before.host, 8*devices*most.sums*n, "%s: bytes to and from the host", name)
			products := int64(1)
			switch name {
			case "bicgstab":
				products = 2
			case "lsmr":
				products = 3 // a transposed one copies sums as well
			}
			require.LessOrEqual(t, after.waits-before.waits, most.waits*devices*n, "%s: waits, none of them in a product", name)
			if devices == 1 {
				require.Zero(t, after.between-before.between, name)
			} else {
				rows := int64(a.Rows)
				require.LessOrEqual(t, after.between-before.between, products*n*8*(rows+2*40+8), "%s: bytes between devices", name)
			}
			require.NoError(t, sys.Close())
		}
	}
}

func TestPowerFindsTheSameEigenvalueOnDevicesAndOnTheHost(t *testing.T) {
	a := dense(t, []float64{2, 1, 0}, []float64{1, 2, 1}, []float64{0, 1, 2})
	x := make([]float64, 3)
	lambda, res, err := Power(t.Context(), planOn(t, "sim:2", a), x, Options{Tol: 1e-12})
	require.NoError(t, err)
	require.True(t, res.Converged)
	require.InDelta(t, 2+math.Sqrt2, lambda, 1e-11)
	require.InDelta(t, math.Sqrt2, math.Abs(x[1]/x[0]), 1e-10)
}

func TestScaleAndZeroRightHandSidesOnDevices(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	plan := planOn(t, "sim:2", a)
	for name, method := range methods {
		x := sines(a.Rows)
		res, err := method(t.Context(), plan, make([]float64, a.Rows), x, Options{})
		require.NoError(t, err, name)
		require.True(t, res.Converged)
		require.Equal(t, make([]float64, a.Rows), x)

		b := sines(a.Rows)
		for i := range b {
			b[i] = math.Ldexp(b[i], -900)
		}
		_, err = method(t.Context(), plan, b, x, Options{})
		require.NoError(t, err, name)
		for i := range b {
			b[i], x[i] = math.Ldexp(b[i], 900), math.Ldexp(x[i], 900)
		}
		require.LessOrEqual(t, trueResidual(t, a, b, x), 1.01e-8, name)
	}
}

func TestTrianglesOfFactorsRunOnTheDevicesOfASolve(t *testing.T) {
	a := laplacian(t, "stencil:n=12,points=5")
	b := sines(a.Rows)
	f, err := factor.NewILU0(t.Context(), a, factor.ILU0Options{Unmatched: true})
	require.NoError(t, err)
	host := make([]float64, a.Rows)
	var iterations int
	for _, devices := range []string{"cpu:1", "sim:1", "sim:3"} {
		sys := open(t, devices)
		plan := planOf(t, sys, a, msrep.PlanOptions{})
		m, err := factor.NewTriangles(t.Context(), sys, f.Lower(), f.Upper(), f.Rows(), f.Cols())
		require.NoError(t, err)
		x := make([]float64, a.Rows)
		res, err := GMRES(t.Context(), plan, b, x, Options{Precond: m})
		require.NoError(t, err, devices)
		if devices == "cpu:1" {
			copy(host, x)
			iterations = res.Iterations
		}
		require.InDelta(t, iterations, res.Iterations, 1, devices)
		require.InDeltaSlice(t, host, x, 1e-6, devices)
		require.NoError(t, m.Close())
	}
}
