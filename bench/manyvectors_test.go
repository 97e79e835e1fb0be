package bench

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkManyVectorsOfPlan times products of a plan with several vectors at once
// beside products of the same plan with one, in turn, on two workers, for matrices
// with random values, as they are, and with random values where the plan has released
// the matrix, so that only the form is left:
//
//	one-ms, many-ms   time of a product with one vector, and with all
//	ratio             the second over the first
//	bytes             the same of the bytes of the form and the vectors, each moved once
//
// The matrices are the files of binary CSR in MSREP_BENCH_MATS, or else generated
// ones; there are MSREP_BENCH_VECTORS vectors, 8 without.
func BenchmarkManyVectorsOfPlan(b *testing.B) {
	count := 8
	if s := os.Getenv("MSREP_BENCH_VECTORS"); s != "" {
		var err error
		if count, err = strconv.Atoi(s); err != nil {
			b.Fatal(err)
		}
	}
	read := map[string]func() (*sparse.CSR[float64], error){}
	if dir := os.Getenv("MSREP_BENCH_MATS"); dir != "" {
		files, _ := filepath.Glob(filepath.Join(dir, "*.bin"))
		for _, f := range files {
			read[filepath.Base(f)] = func() (*sparse.CSR[float64], error) { return readBinaryCSR(f) }
		}
	} else {
		for _, spec := range []string{"stencil:dims=3,points=27,n=108", "banded:n=150k,band=100", "random:rows=400k,nnz=12M"} {
			read[spec] = func() (*sparse.CSR[float64], error) {
				a, _, err := gen.Generate(spec)
				return a, err
			}
		}
	}
	for name, read := range read {
		for _, values := range []string{"random", "asis", "released"} {
			b.Run(name+"/"+values, func(b *testing.B) {
				a, err := read()
				if err != nil {
					b.Fatal(err)
				}
				if values != "asis" {
					rng := rand.New(rand.NewPCG(1, 2))
					for k := range a.Val {
						a.Val[k] = rng.Float64() - 0.5
					}
				}
				manyOfPlan(b, a, count, values == "released")
			})
		}
	}
}

func manyOfPlan(b *testing.B, a *sparse.CSR[float64], count int, release bool) {
	ctx := context.Background()
	sys, err := msrep.Open(msrep.Config{Devices: "cpu", Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	defer sys.Close()
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{SkipValidation: true, Release: release})
	if err != nil {
		b.Fatal(err)
	}
	vector := func(n int) []float64 {
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
	const apart = 104 // elements, so that x and y do not begin at the same place of a page
	x, y := vector(a.Cols), vector(a.Rows + apart)[apart:]
	xs, ys := msrep.ByRow(vector(a.Cols*count), count), msrep.ByRow(vector(a.Rows*count + apart)[apart:], count)
	var ones, many []time.Duration
	for b.Loop() {
		one, err := plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y)
		if err != nil {
			b.Fatal(err)
		}
		all, err := plan.SpMM(ctx, msrep.NoTrans, 1, xs, 0, ys)
		if err != nil {
			b.Fatal(err)
		}
		ones, many = append(ones, one.Total), append(many, all.Total)
	}
	info := plan.Packed(msrep.NoTrans)[0]
	form := float64(info.Bytes)
	if info.Form == kernels.FormCSR { // in place
		form = float64(12*a.NNZ() + 8*int64(a.Rows))
	}
	vectors := float64(8 * (a.Rows + a.Cols))
	b.ReportMetric(median(ones)*1e3, "one-ms")
	b.ReportMetric(median(many)*1e3, "many-ms")
	b.ReportMetric(median(many)/median(ones), "ratio")
	b.ReportMetric((form+float64(count)*vectors)/(form+vectors), "bytes")
	b.ReportMetric(0, "ns/op")
	b.Logf("%s: %s", info.Form, info.Why)
}
