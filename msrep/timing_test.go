package msrep

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func TestTimingCombinesDevicesByStrategy(t *testing.T) {
	times := []Timing{{Distribute: 1, Kernel: 20, Merge: 300}, {Distribute: 2, Kernel: 10, Merge: 500}}
	p := &Plan[float64]{}
	require.Equal(t, Timing{Distribute: 2, Kernel: 20, Merge: 500, Devices: []time.Duration{20, 10}}, p.combine(times))
	p.opt.Variant.Strategy = Baseline
	sum := p.combine(times)
	require.Equal(t, Timing{Distribute: 3, Kernel: 30, Merge: 800, Devices: []time.Duration{20, 10}}, sum)
	var all Timing
	sum.Total = 4000
	all.add(sum)
	all.add(sum)
	require.Equal(t, Timing{Distribute: 6, Kernel: 60, Merge: 1600, Total: 8000, Devices: []time.Duration{40, 20}}, all)
}

func TestProductsReportTheTimeOfTheirPhases(t *testing.T) {
	a := bands(2000)
	for _, devices := range []string{"cpu:2", "sim:2"} {
		plan := planOf(t, openCPU(t, devices), sparse.Matrix[float64](a), PlanOptions{})
		x, y := make([]float64, 2*a.Rows), make([]float64, 2*a.Rows)
		require.Zero(t, plan.LastTiming(), "before the first product")
		for _, product := range []func() error{
			func() error { return plan.SpMV(ctx, NoTrans, 1, x[:a.Rows], 0, y[:a.Rows]) },
			func() error { return plan.SpMM(ctx, NoTrans, 1, MultiVectorByRow(x, 2), 0, MultiVectorByRow(y, 2)) },
			func() error { return plan.SpMM(ctx, Trans, 1, MultiVectorByRow(x, 2), 0, MultiVectorByRow(y, 2)) },
		} {
			require.NoError(t, product())
			got := plan.LastTiming()
			require.Len(t, got.Devices, 2)
			require.Positive(t, slices.Min(got.Devices))
			require.GreaterOrEqual(t, got.Kernel, slices.Max(got.Devices))
			require.GreaterOrEqual(t, got.Total, got.Kernel)
			if devices == "sim:2" {
				require.Positive(t, got.Distribute)
				require.Positive(t, got.Merge)
			}
		}
		require.Error(t, plan.SpMV(ctx, NoTrans, 1, x[:1], 0, y[:a.Rows]))
		require.Zero(t, plan.LastTiming(), "after a product that failed")
	}
}
