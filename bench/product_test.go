package bench

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkProduct times products of matrices that exceed all caches (about 400 MB of CSR) and a pure read of 512 MB
// on all cores, alternately in the same run:
//
//	GB/s       12 nnz + 8(m+1) + 8n + 8m bytes, those of CSR in any form, over the median time of a product
//	%read      speed of moving the form, x and y once each, in percent of the speed of the pure read
//	%read-csr  the same with the bytes of CSR: above 100 for a form with fewer bytes
//	T/N        time of a transposed product over that of one without transpose; the plan expects both
func BenchmarkProduct(b *testing.B) {
	for _, spec := range []string{
		"stencil:dims=3,points=27,n=108",
		"banded:n=3M,band=5",
		"powerlaw:rows=2M,nnz=30M,r=2.1",
		"rmat:scale=20,edges=24",
		"random:rows=2M,nnz=30M",
	} {
		b.Run(spec, func(b *testing.B) {
			a, _, err := gen.Generate(spec)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkProduct(b, a)
		})
	}
}

func benchmarkProduct(b *testing.B, a *sparse.CSR[float64]) {
	ctx := context.Background()
	sys := open(b, "cpu:1", 0)
	plan := planOf(b, sys, a, msrep.PlanOptions{Expected: msrep.Expected{Transposed: 100}, SkipValidation: true})
	n := max(a.Rows, a.Cols)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	mem, err := measure.NewMemory(512 << 20)
	if err != nil {
		b.Fatal(err)
	}
	defer mem.Free()
	times := map[string][]time.Duration{}
	clock := func(name string, f func() error) {
		t := time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		times[name] = append(times[name], time.Since(t))
	}
	for b.Loop() {
		clock("straight", func() error {
			err := plan.SpMV(ctx, msrep.NoTrans, 1, x[:a.Cols], 0, y[:a.Rows])
			return err
		})
		clock("read", func() error { mem.Read(); return nil })
		clock("transposed", func() error {
			err := plan.SpMV(ctx, msrep.Trans, 1, x[:a.Rows], 0, y[:a.Cols])
			return err
		})
	}
	packed := plan.Packed(msrep.NoTrans)[0]
	form := packed.Bytes
	if packed.Form == kernels.FormCSR { // the matrix in place
		form = a.Bytes()
	}
	vectors := 8 * int64(a.Rows+a.Cols)
	speed := func(bytes int64) float64 { return float64(bytes) / median(times["straight"]) / 1e9 }
	read := float64(512<<20) / median(times["read"]) / 1e9
	b.ReportMetric(speed(a.Bytes()+vectors), "GB/s")
	b.ReportMetric(100*speed(form+vectors)/read, "%read")
	b.ReportMetric(100*speed(a.Bytes()+vectors)/read, "%read-csr")
	b.ReportMetric(2*float64(a.NNZ())/median(times["straight"])/1e9, "GFLOP/s")
	b.ReportMetric(median(times["transposed"])/median(times["straight"]), "T/N")
}
