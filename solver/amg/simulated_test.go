package amg_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/sparse"
)

// Each problem is solved with all vectors on simulated GPUs, and in host memory. Cycles are the same up to rounding, so
// the methods take as many iterations.
func TestSimulatedGPUsSolveAsTheHostDoes(t *testing.T) {
	elastic, at := elasticity(8, 6, 0.3, 0.3)
	rigid, err := amg.RigidBodyModes(at, 2)
	require.NoError(t, err)
	one := [3]float64{1, 1, 1}
	jump := func(x, y, _ int) float64 {
		if x < 6 == (y < 5) {
			return 1000
		}
		return 1
	}
	for _, p := range []struct {
		name   string
		a      *sparse.CSR[float64]
		method solver.Method
		opt    amg.Options
	}{
		{"3D Poisson, W-cycle", poisson(5, 5, 5), solver.CG, amg.Options{Visits: 2}},
		{"jumps", grid([3]float64{11, 9, 1}, one, [3]float64{}, jump, false), solver.CG, amg.Options{}},
		{"elasticity", elastic, solver.CG, amg.Options{NearNull: rigid, Block: 2}},
		{"wind", grid([3]float64{11, 9, 1}, one, [3]float64{20, 5, 0}, nil, false), solver.GMRES, amg.Options{}},
	} {
		p.opt.Double, p.opt.CoarseSize = true, 10
		b := random(p.a.Rows)
		var want []float64
		iterations := 0
		for _, devices := range []string{"cpu:1", "sim:1", "sim:2", "sim:6"} {
			sys := system(t, msrep.Config{Devices: devices})
			m, err := amg.New(background, sys, p.a, p.opt)
			require.NoError(t, err, p.name)
			require.Greater(t, len(m.Levels()), 1, p.name)
			plan, err := msrep.NewPlan(background, sys, p.a, msrep.PlanOptions{})
			require.NoError(t, err)
			x := make([]float64, p.a.Rows)
			res, err := p.method(background, plan, b, x, solver.Options{Precond: m, Tol: 1e-10, MaxIter: 60})
			require.NoError(t, err, p.name)
			if want == nil {
				want, iterations = x, res.Iterations
			}
			require.InDelta(t, iterations, res.Iterations, 1, "%s on %s", p.name, devices)
			require.Less(t, distance(want, x), 1e-7*norm(want), "%s on %s", p.name, devices)
			require.NoError(t, m.Close())
			require.NoError(t, plan.Close())
		}
	}
}

// distance returns the 2-norm of x - y.
func distance(x, y []float64) float64 {
	d := make([]float64, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
	}
	return norm(d)
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }

func TestSmallMatricesOnMoreGPUsThanRows(t *testing.T) {
	for _, a := range []*sparse.CSR[float64]{poisson(1, 1, 1), poisson(3, 1, 1), poisson(5, 4, 1)} {
		r := random(a.Rows)
		var want []float64
		for _, devices := range []string{"cpu:1", "sim:6"} {
			sys := system(t, msrep.Config{Devices: devices})
			m, err := amg.New(background, sys, a, amg.Options{CoarseSize: 2, Double: true})
			require.NoError(t, err)
			z := make([]float64, a.Rows)
			require.NoError(t, m.Apply(r, z))
			if want == nil {
				want = z
			}
			require.InDeltaSlice(t, want, z, 1e-12)
			require.NoError(t, m.Close())
		}
	}
}
