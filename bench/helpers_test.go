package bench

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// envInt is an environment variable as a number, def where it is not set.
func envInt(b *testing.B, name string, def int) int {
	s := os.Getenv(name)
	if s == "" {
		return def
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		b.Fatalf("%s=%q: a positive number is needed", name, s)
	}
	return n
}

// parallelCopy copies on all cores.
func parallelCopy(dst, src []int64) {
	par.Range(int64(len(src)), 1<<15, func(lo, hi int64) { copy(dst[lo:hi], src[lo:hi]) })
}

// matrices is how to read the files of binary CSR in MSREP_BENCH_MATS, by name, or else
// how to make some matrices.
func matrices() map[string]func() (*sparse.CSR[float64], error) {
	read := map[string]func() (*sparse.CSR[float64], error){}
	if dir := os.Getenv("MSREP_BENCH_MATS"); dir != "" {
		files, _ := filepath.Glob(filepath.Join(dir, "*.bin"))
		for _, f := range files {
			read[filepath.Base(f)] = func() (*sparse.CSR[float64], error) { return readBinaryCSR(f) }
		}
		return read
	}
	for _, spec := range []string{"stencil:dims=3,points=27,n=108", "banded:n=150k,band=100", "random:rows=400k,nnz=12M"} {
		read[spec] = func() (*sparse.CSR[float64], error) {
			a, _, err := gen.Generate(spec)
			return a, err
		}
	}
	return read
}

// randomise replaces values by random ones, the same each time.
func randomise(val []float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for k := range val {
		val[k] = rng.Float64() - 0.5
	}
}

// apart is how many elements one of two vectors begins later in its memory, so that they
// do not begin at the same place of a page.
const apart = 104

// vector is n elements in memory of their own, until the benchmark ends.
func vector(b *testing.B, n int) []float64 {
	m, err := mem.New(8 * int64(n))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = m.Free() })
	v, _ := mem.Slice[float64](m.Bytes(), int64(n))
	for i := range v {
		v[i] = float64(i%1000) / 1000
	}
	return v
}
