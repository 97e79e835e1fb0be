//go:build cgo

package main

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// planOf makes a plan that has no handle yet.
func planOf(t *testing.T, system uint64) *openPlan[float64] {
	sys, err := get[*openSystem](system)
	require.NoError(t, err)
	a, err := sparse.NewCSR(1, 1, []int64{0, 1}, []int32{0}, []float64{2})
	require.NoError(t, err)
	p, err := msrep.NewPlan(t.Context(), sys.sys, sparse.Matrix[float64](a), msrep.PlanOptions{})
	require.NoError(t, err)
	return newOpenPlan(system, sys.sys, p, sparse.Matrix[float64](a), false)
}

func TestAPlanThatIsMadeWhileItsSystemClosesGetsNoHandle(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	system := handles.add(&openSystem{sys: sys})
	kept, late := planOf(t, system), planOf(t, system)
	h, err := handles.addOwned(kept)
	require.NoError(t, err)
	require.NoError(t, handles.close(system))
	_, err = handles.addOwned(late)
	require.ErrorIs(t, err, errHandle)
	require.Empty(t, handles.open, "nothing is left behind")
	err = late.plan.SpMV(t.Context(), msrep.NoTrans, 1, []float64{1}, 0, []float64{0})
	require.ErrorIs(t, err, msrep.ErrClosed)
	_, err = get[anyPlan](h)
	require.ErrorIs(t, err, errHandle)
}

// If the values changed during a solve, it would solve neither system.
func TestAnUpdateWaitsForASolve(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	system := handles.add(&openSystem{sys: sys})
	defer func() { require.NoError(t, handles.close(system)) }()
	p := planOf(t, system)
	_, err = handles.addOwned(p)
	require.NoError(t, err)

	updated := make(chan error, 1)
	opt := solver.Options{Tol: 1e-9, Progress: func(iteration int, _ float64) {
		if iteration > 1 {
			return
		}
		go func() { updated <- p.update([]float64{8}) }()
		select {
		case <-updated:
			t.Error("the values changed under the solve")
		case <-time.After(50 * time.Millisecond):
		}
	}}
	x := []float64{0}
	_, err = p.solve(t.Context(), 0, 1, []float64{1}, x, opt)
	require.NoError(t, err)
	require.Equal(t, []float64{0.5}, x)
	require.NoError(t, <-updated)
	_, err = p.solve(t.Context(), 0, 1, []float64{1}, x, solver.Options{})
	require.NoError(t, err)
	require.Equal(t, []float64{0.125}, x)
}

// msrep.h states these residuals, and that they are 2e-8 times the condition number, which is
// 4 (n+1)^2 / pi^2 to within 1 %.
func TestAPlanOfFloat32EndsAtTheResidualThatTheHeaderStates(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	defer sys.Close()
	for n, want := range map[int]float64{30: 7e-6, 100: 8e-5, 300: 7e-4} {
		a, _, err := gen.Generate(fmt.Sprintf("stencil:n=%d", n))
		require.NoError(t, err)
		single := sparse.Convert[float32](a)
		plan, err := msrep.NewPlan(t.Context(), sys, sparse.Matrix[float32](single), msrep.PlanOptions{})
		require.NoError(t, err)
		p := newOpenPlan(0, sys, plan, sparse.Matrix[float32](single), false)
		b, x := make([]float64, a.Rows), make([]float64, a.Rows)
		for i := range b {
			b[i] = 1
		}
		res, err := p.solve(t.Context(), 0, 0, b, x, solver.Options{Tol: 1e-12})
		require.ErrorIs(t, err, solver.ErrStagnation)
		require.InDelta(t, 1, res.Residual/want, 0.2, "%d^2: %g", n, res.Residual)
		condition := 4 * float64((n+1)*(n+1)) / (math.Pi * math.Pi)
		require.InDelta(t, 1, res.Residual/(2e-8*condition), 0.2, "%d^2: %g", n, res.Residual)
		require.NoError(t, p.Close())
	}
}
