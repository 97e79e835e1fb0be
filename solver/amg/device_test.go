package amg_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
)

// applied returns M r for vectors in host memory and for Vectors made by a plan and by NewVector.
func applied(t *testing.T, sys *msrep.System, m *amg.Preconditioner, plan *msrep.Plan[float64], r []float64) [][]float64 {
	t.Helper()
	out := [][]float64{make([]float64, len(r))}
	require.NoError(t, m.Apply(r, out[0]))
	for _, vector := range []func() (*msrep.Vector[float64], error){
		plan.RowVector, func() (*msrep.Vector[float64], error) { return msrep.NewVector[float64](sys, len(r)) },
	} {
		b, err := vector()
		require.NoError(t, err)
		x, err := vector()
		require.NoError(t, err)
		require.NoError(t, b.Write(r))
		require.NoError(t, m.ApplyVector(t.Context(), b, x))
		z := make([]float64, len(r))
		require.NoError(t, x.Read(z))
		out = append(out, z)
		require.NoError(t, b.Close())
		require.NoError(t, x.Close())
	}
	return out
}

func TestCyclesOnDevices(t *testing.T) {
	a := poisson(13, 12, 1)
	r := random(a.Rows)
	var want []float64
	for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:2", "sim:6"} {
		sys := system(t, msrep.Config{Devices: devices})
		m, err := amg.New(background, sys, a, amg.Options{CoarseSize: 8, Double: true})
		require.NoError(t, err)
		require.Greater(t, len(m.Levels()), 2)
		plan, err := msrep.NewPlan(background, sys, a, msrep.PlanOptions{})
		require.NoError(t, err)
		for _, z := range applied(t, sys, m, plan, r) {
			if want == nil {
				want = z
			}
			require.InDeltaSlice(t, want, z, 1e-12, devices)
		}
		res, err := solver.CG(background, plan, r, make([]float64, len(r)), solver.Options{Precond: m})
		require.NoError(t, err)
		require.LessOrEqual(t, res.Iterations, 12)
		require.Positive(t, m.Bytes())
		require.NoError(t, plan.Close())
		require.NoError(t, m.Close())
	}
}

func TestDeterministicCyclesHaveTheSameBits(t *testing.T) {
	for _, double := range []bool{false, true} {
		a := poisson(13, 12, 1)
		r := random(a.Rows)
		var want []float64
		for _, devices := range []string{"cpu:1", "cpu:3", "sim:1", "sim:2", "sim:6"} {
			sys := system(t, msrep.Config{Devices: devices})
			m, err := amg.New(background, sys, a, amg.Options{CoarseSize: 8, Double: double, Deterministic: true})
			require.NoError(t, err)
			plan, err := msrep.NewPlan(background, sys, a, msrep.PlanOptions{Deterministic: true})
			require.NoError(t, err)
			for _, z := range applied(t, sys, m, plan, r) {
				if want == nil {
					want = z
				}
				require.Equal(t, want, z, devices)
			}
			require.NoError(t, plan.Close())
			require.NoError(t, m.Close())
		}
	}
}

func TestWrongCalls(t *testing.T) {
	sys := system(t, msrep.Config{Devices: "sim:2"})
	a := poisson(6, 5, 1)
	m, err := amg.New(background, sys, a, amg.Options{CoarseSize: 8})
	require.NoError(t, err)
	v, err := msrep.NewVector[float64](sys, a.Rows)
	require.NoError(t, err)
	w, err := msrep.NewVector[float64](sys, a.Rows)
	require.NoError(t, err)
	short, err := msrep.NewVector[float64](sys, 3)
	require.NoError(t, err)
	ended, end := context.WithCancel(background)
	end()
	require.ErrorIs(t, m.ApplyVector(ended, v, w), context.Canceled)
	require.ErrorContains(t, m.ApplyVector(background, v, v), "z: is r")
	require.ErrorContains(t, m.ApplyVector(background, v, short), "z: 3 elements")
	require.ErrorContains(t, m.ApplyVector(background, nil, v), "r: 0 elements")
	r := make([]float64, a.Rows)
	require.ErrorContains(t, m.Apply(r, r), "z: shares memory with r")
	require.ErrorContains(t, m.Apply(r[:3], r), "r: 3 elements")
	require.ErrorContains(t, m.Apply(r, nil), "z: 0 elements")
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	require.ErrorIs(t, m.Apply(r, make([]float64, a.Rows)), msrep.ErrClosed)
	require.ErrorIs(t, m.ApplyVector(background, v, w), msrep.ErrClosed)
}
