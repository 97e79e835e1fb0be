package bench

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkDeterministic gives the time of deterministic products beside that of
// plain CSR and of the default mode, taken in turn: medians, as ratios.
func BenchmarkDeterministic(b *testing.B) {
	for _, spec := range []string{"stencil:dims=3,n=100,points=27", "stencil:n=1500,points=5", "rmat:scale=18,edges=16", "random:rows=300k,nnz=5M"} {
		b.Run(spec, func(b *testing.B) {
			a, _, err := gen.Generate(spec)
			require.NoError(b, err)
			sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: runtime.GOMAXPROCS(0)})
			require.NoError(b, err)
			defer sys.Close()
			var plans []*msrep.Plan[float64]
			for _, o := range []msrep.PlanOptions{{Deterministic: true}, {Format: "csr"}, {}} {
				p, err := msrep.NewPlan(context.Background(), sys, a, o)
				require.NoError(b, err)
				plans = append(plans, p)
			}
			x, y := make([]float64, a.Cols), make([]float64, a.Rows+64)[64:]
			for i := range x {
				x[i] = float64(i%17) - 8
			}
			times := make([][]time.Duration, len(plans))
			for b.Loop() {
				for i, p := range plans {
					t := time.Now()
					_, err := p.SpMV(context.Background(), msrep.NoTrans, 1, x, 0, y)
					require.NoError(b, err)
					times[i] = append(times[i], time.Since(t))
				}
			}
			median := func(d []time.Duration) float64 { return float64(slices.Sorted(slices.Values(d))[len(d)/2]) }
			b.ReportMetric(median(times[0])/1e6, "ms")
			b.ReportMetric(median(times[0])/median(times[1]), "of_csr")
			b.ReportMetric(median(times[0])/median(times[2]), "of_default")
		})
	}
}
