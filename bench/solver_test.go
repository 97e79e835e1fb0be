package bench

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkCGBytes gives the time of an iteration of CG on a 27-point stencil beside
// what its bytes take at the bandwidth of reading, measured just before: the share of
// the bandwidth that it reaches. The matrix is plain CSR; 10 M unknowns, 1 M with
// -short.
func BenchmarkCGBytes(b *testing.B) {
	spec := "stencil:dims=3,n=215,points=27"
	if testing.Short() {
		spec = "stencil:dims=3,n=100,points=27"
	}
	a, _, err := gen.Generate(spec)
	require.NoError(b, err)
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", Threads: runtime.GOMAXPROCS(0)})
	require.NoError(b, err)
	defer sys.Close()
	plan, err := msrep.NewPlan(context.Background(), sys, a, msrep.PlanOptions{Format: sparse.FormatCSR, SkipValidation: true})
	require.NoError(b, err)
	rhs, x := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range rhs {
		rhs[i] = float64(i%17) - 8
	}
	const iterations = 4
	n, nnz := float64(a.Rows), float64(a.NNZ())
	// The matrix, x and y of the product, and 11 n elements of vectors.
	bytes := 12*nnz + 8*n + 8*2*n + 8*11*n
	for b.Loop() {
		t := time.Now()
		sum := streamAll(a.Val)
		perByte := time.Since(t).Seconds() / (8 * nnz)
		require.NotZero(b, sum)
		clear(x)
		var times []time.Duration
		t = time.Now()
		_, err := solver.CG(context.Background(), plan, rhs, x, solver.Options{Tol: 1e-15, MaxIter: iterations,
			Progress: func(int, float64) { times = append(times, time.Since(t)) }})
		require.ErrorIs(b, err, solver.ErrNotConverged)
		took := (times[iterations-1] - times[0]).Seconds() / (iterations - 1)
		b.ReportMetric(took*1e3, "ms/iteration")
		b.ReportMetric(bytes/took/1e9, "GB/s")
		b.ReportMetric(1/perByte/1e9, "GB/s-read")
		b.ReportMetric(bytes*perByte/took, "of_bandwidth")
	}
}

// streamAll sums v on all CPUs, in four streams each.
func streamAll(v []float64) float64 {
	w := runtime.GOMAXPROCS(0)
	sums := make([]float64, w)
	par.Do(w, func(i int) {
		p := v[par.Cut(int64(len(v)), w, i):par.Cut(int64(len(v)), w, i+1)]
		q := len(p) / 4
		s0, s1, s2, s3 := p[:q], p[q:2*q], p[2*q:3*q], p[3*q:4*q]
		var a, b, c, d float64
		for k := range s0 {
			a += s0[k]
			b += s1[k]
			c += s2[k]
			d += s3[k]
		}
		sums[i] = a + b + c + d
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total
}
