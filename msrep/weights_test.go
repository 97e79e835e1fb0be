package msrep

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/sparse"
)

func TestProductsWithUnequalPartsAgreeWithTheReference(t *testing.T) {
	systems := map[string]*System{}
	for _, devices := range []string{"sim:3", "cpu:3"} {
		systems[devices] = openCPU(t, devices)
		systems[devices].weights = []int{32, 1, 11}
	}
	left := 60
	if testing.Short() {
		left = 20
	}
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 {
			return
		}
		sys := systems[rapid.SampledFrom([]string{"sim:3", "cpu:3"}).Draw(t, "devices")]
		checkSimulated[float64](t, sys)
	})
	const n = 2200
	a := bands(n)
	for devices, sys := range systems {
		for _, k := range kinds {
			plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{Storage: Storage{Format: k.format}})
			v, err := plan.ColumnVector()
			x := onDevices(t, v, err, sines(n))
			y, err := plan.RowVector()
			require.NoError(t, err)
			require.NoError(t, plan.Apply(ctx, k.op, 1, x, 0, y))
			require.Equal(t, -1, reference.Check(elements(t, y), reference.Multiply(bool(k.op), 1, a, sines(n), 0, make([]float64, n))), devices)
			for i, w := range []float64{32, 1, 11} {
				require.InDelta(t, w/44, float64(plan.parts[i].NNZ())/float64(plan.NNZ()), 0.01, devices)
			}
			require.NoError(t, plan.Close())
		}
	}
	baseline := PlanOptions{Variant: Variant{Strategy: Baseline}}
	even := planOf(t, openCPU(t, "sim:3"), sparse.Matrix[float64](a), baseline)
	require.Equal(t, even.parts, planOf(t, systems["sim:3"], sparse.Matrix[float64](a), baseline).parts)
}
