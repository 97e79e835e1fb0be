package bench

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkCGBytes reports the fraction of the read bandwidth that an iteration of CG on a 27-point stencil reaches.
// The bandwidth is measured before and after each solve. It prints the median, least and largest fraction of all
// solves. The matrix is plain CSR with 10 M unknowns, 1 M with -short.
func BenchmarkCGBytes(b *testing.B) {
	spec := "stencil:dims=3,n=215,points=27"
	if testing.Short() {
		spec = "stencil:dims=3,n=100,points=27"
	}
	a, _, err := gen.Generate(spec)
	require.NoError(b, err)
	sys := open(b, "cpu:1", runtime.GOMAXPROCS(0))
	plan := planOf(b, sys, a, msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}, SkipValidation: true})
	rhs, x := make([]float64, a.Rows), make([]float64, a.Rows)
	for i := range rhs {
		rhs[i] = float64(i%17) - 8
	}
	const iterations = 4
	n, nnz := float64(a.Rows), float64(a.NNZ())
	// The matrix, x and y of the product, and 10 n elements of other vectors.
	bytes := 12*nnz + 8*n + 8*2*n + 8*10*n
	reading := func() float64 { // seconds per byte
		begin := time.Now()
		sum := measure.Sum(a.Val)
		took := time.Since(begin).Seconds()
		require.NotZero(b, sum)
		return took / (8 * nnz)
	}
	var iteration, read, share []float64
	before := reading()
	for b.Loop() {
		clear(x)
		var times []time.Duration
		begin := time.Now()
		_, err := solver.CG(context.Background(), plan, rhs, x, solver.Options{Tol: 1e-15, MaxIter: iterations,
			Progress: func(int, float64) { times = append(times, time.Since(begin)) }})
		require.ErrorIs(b, err, solver.ErrNotConverged)
		took := (times[iterations-1] - times[0]).Seconds() / (iterations - 1)
		after := reading()
		perByte := (before + after) / 2
		iteration, read, share = append(iteration, took), append(read, perByte), append(share, bytes*perByte/took)
		before = after
	}
	for _, v := range [][]float64{iteration, read, share} {
		slices.Sort(v)
	}
	half := len(share) / 2
	b.ReportMetric(iteration[half]*1e3, "ms/iteration")
	b.ReportMetric(bytes/iteration[half]/1e9, "GB/s")
	b.ReportMetric(1/read[half]/1e9, "GB/s-read")
	b.ReportMetric(share[half], "of_bandwidth")
	b.ReportMetric(share[0], "least")
	b.ReportMetric(share[len(share)-1], "greatest")
}
