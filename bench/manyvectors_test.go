package bench

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
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
	for _, in := range inputs(kinds...) {
		for _, values := range []string{"random", "asis", "released"} {
			b.Run(in.name+"/"+values, func(b *testing.B) {
				a, err := in.read()
				if err != nil {
					b.Fatal(err)
				}
				if values != "asis" {
					randomise(a.Val)
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
	x, y := vector(b, a.Cols), vector(b, a.Rows+apart)[apart:]
	xs, ys := msrep.ByRow(vector(b, a.Cols*count), count), msrep.ByRow(vector(b, a.Rows*count+apart)[apart:], count)
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
