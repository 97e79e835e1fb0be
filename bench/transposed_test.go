package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkTransposedOfPlan times transposed products and products without transpose of the same plans, alternately,
// for matrices with random values, with one and two workers. The plans expect MSREP_BENCH_ANNOUNCED transposed
// products (default 0):
//
//	N-ms, T-ms          a product in the form of the plan, and a transposed one
//	csr-N-ms, csr-T-ms  the same of a plan in plain CSR
//	T/N                 T-ms over N-ms
//	T/csr               T-ms over csr-N-ms
//	csr-T/N             csr-T-ms over csr-N-ms
//
// With 100 rounds or more, the plan of a small matrix builds a form for the transposed products during the rounds.
// All times are medians. The matrices are the files of binary CSR in MSREP_BENCH_MATS, or generated ones without it.
func BenchmarkTransposedOfPlan(b *testing.B) {
	for _, in := range inputs(kinds...) {
		for threads := 1; threads <= 2; threads++ {
			b.Run(fmt.Sprintf("%s/%d", in.name, threads), func(b *testing.B) {
				a, err := in.read()
				if err != nil {
					b.Fatal(err)
				}
				randomise(a.Val)
				transposedOfPlan(b, a, threads)
			})
		}
	}
}

func transposedOfPlan(b *testing.B, a *sparse.CSR[float64], threads int) {
	ctx := context.Background()
	sys := open(b, "cpu", threads)
	plan := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true, Expected: msrep.Expected{Transposed: corpus.EnvInt(b, "MSREP_BENCH_ANNOUNCED", 0)}})
	plain := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true, Storage: msrep.Storage{Format: sparse.FormatCSR}})
	n := max(a.Rows, a.Cols)
	x, y := vector(b, n), vector(b, n+vectorOffset)[vectorOffset:]
	kinds := []struct {
		name string
		plan *msrep.Plan[float64]
		op   msrep.Transpose
	}{{"N-ms", plan, msrep.NoTrans}, {"T-ms", plan, msrep.Trans}, {"csr-N-ms", plain, msrep.NoTrans}, {"csr-T-ms", plain, msrep.Trans}}
	times := map[string][]time.Duration{}
	for round := -1; b.Loop(); round++ {
		for _, k := range kinds {
			rows, cols := a.Rows, a.Cols
			if k.op == msrep.Trans {
				rows, cols = cols, rows
			}
			if err := k.plan.SpMV(ctx, k.op, 1, x[:cols], 0, y[:rows]); err != nil {
				b.Fatal(err)
			}
			if round >= 0 { // the first rounds allocate memory
				times[k.name] = append(times[k.name], k.plan.LastTiming().Total)
			}
		}
	}
	if len(times) == 0 {
		return
	}
	for _, k := range kinds {
		b.ReportMetric(median(times[k.name])*1e3, k.name)
	}
	b.ReportMetric(median(times["T-ms"])/median(times["N-ms"]), "T/N")
	b.ReportMetric(median(times["T-ms"])/median(times["csr-N-ms"]), "T/csr")
	b.ReportMetric(median(times["csr-T-ms"])/median(times["csr-N-ms"]), "csr-T/N")
	b.ReportMetric(0, "ns/op")
	b.Logf("%s: %s", plan.Packed(msrep.NoTrans)[0].Form, plan.Packed(msrep.NoTrans)[0].Why)
}
