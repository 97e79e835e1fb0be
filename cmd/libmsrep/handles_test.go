//go:build cgo

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// planOf makes a plan that no handle stands for yet.
func planOf(t *testing.T, system uint64) *openPlan[float64] {
	sys, err := get[*openSystem](system)
	require.NoError(t, err)
	a, err := sparse.NewCSR(1, 1, []int64{0, 1}, []int32{0}, []float64{2})
	require.NoError(t, err)
	p, err := msrep.NewPlan(t.Context(), sys.sys, sparse.Matrix[float64](a), msrep.PlanOptions{})
	require.NoError(t, err)
	return &openPlan[float64]{system: system, plan: p, matrix: a}
}

func TestAPlanThatIsMadeWhileItsSystemClosesGetsNoHandle(t *testing.T) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1"})
	require.NoError(t, err)
	system := handles.add(&openSystem{sys: sys})
	kept, late := planOf(t, system), planOf(t, system)
	h, err := handles.addPlan(kept)
	require.NoError(t, err)
	require.NoError(t, handles.close(system))
	_, err = handles.addPlan(late)
	require.ErrorIs(t, err, errHandle)
	require.Empty(t, handles.open, "nothing is left behind")
	_, err = late.plan.SpMV(t.Context(), msrep.NoTrans, 1, []float64{1}, 0, []float64{0})
	require.ErrorIs(t, err, msrep.ErrClosed)
	_, err = get[solvable](h)
	require.ErrorIs(t, err, errHandle)
}
