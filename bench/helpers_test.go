// Package bench has benchmarks of whole operations; those of single functions are in the packages of the functions.
// The experiments of msrep bench are in internal/bench, their results in bench/results.
package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

// open opens CPU devices for a benchmark, with all threads if threads is 0.
func open(b *testing.B, devices string, threads int) *msrep.System {
	sys, err := msrep.Open(msrep.Config{Devices: devices, Threads: threads})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, sys.Close()) })
	return sys
}

// planOf makes a plan that is closed with the devices.
func planOf(b *testing.B, sys *msrep.System, a *sparse.CSR[float64], o msrep.PlanOptions) *msrep.Plan[float64] {
	plan, err := msrep.NewPlan(b.Context(), sys, a, o)
	require.NoError(b, err)
	return plan
}

// parallelCopy copies on all cores.
func parallelCopy(dst, src []int64) {
	par.Range(int64(len(src)), 1<<15, func(lo, hi int64) { copy(dst[lo:hi], src[lo:hi]) })
}

// input is a matrix that a benchmark reads or generates when it needs the matrix.
type input struct {
	name string
	read func() (*sparse.CSR[float64], error)
}

// inputs returns the files of binary CSR in MSREP_BENCH_MATS, or the matrices that specs generate.
func inputs(specs ...string) (in []input) {
	if dir := os.Getenv("MSREP_BENCH_MATS"); dir != "" {
		files, _ := filepath.Glob(filepath.Join(dir, "*.bin"))
		for _, f := range files {
			in = append(in, input{filepath.Base(f), func() (*sparse.CSR[float64], error) {
				m, err := matio.Read(context.Background(), f)
				if err != nil {
					return nil, err
				}
				return m.CSR, nil
			}})
		}
		return in
	}
	for _, spec := range specs {
		in = append(in, input{spec, func() (*sparse.CSR[float64], error) {
			a, _, err := gen.Generate(spec)
			return a, err
		}})
	}
	return in
}

// kinds are a stencil, a band and a random matrix, all larger than the caches.
var kinds = []string{"stencil:dims=3,points=27,n=108", "banded:n=150k,band=100", "random:rows=400k,nnz=12M"}

// randomise replaces the values by random ones, always the same.
func randomise(val []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range val {
		val[k] = rng.Float64() - 0.5
	}
}

// vectorOffset is the distance, in elements, by which one of two vectors starts later in its memory, so that the two do not
// start at the same offset of a page.
const vectorOffset = 104

// vector returns n elements in separate memory that is freed after the benchmark.
func vector(b *testing.B, n int) []float64 {
	m, err := mem.New(8 * int64(n))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Free() })
	v, _ := mem.Slice[float64](m.Bytes(), int64(n))
	return filled(v)
}

// filled returns v with numbers in it.
func filled(v []float64) []float64 {
	for i := range v {
		v[i] = float64(i%1000) / 1000
	}
	return v
}
