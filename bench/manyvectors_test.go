package bench

import (
	"context"
	"testing"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkManyVectorsOfPlan times products of a plan with several vectors at once
// beside products of the same plan with one, in turn, for matrices with random values, as
// they are, and with random values where the plan has released the matrix, so that only
// the form is left; all of these with vectors from make, in small pages, and with vectors
// in huge pages:
//
//	one-ms, many-ms   time of a product with one vector, and with all
//	ratio             the second over the first
//	bytes             the same of the bytes of the form and the vectors, each moved once
//
// The matrices are the files of binary CSR in MSREP_BENCH_MATS, or else generated
// ones; there are MSREP_BENCH_VECTORS vectors, 8 without, and MSREP_BENCH_THREADS workers,
// 2 without.
func BenchmarkManyVectorsOfPlan(b *testing.B) {
	count, threads := envInt(b, "MSREP_BENCH_VECTORS", 8), envInt(b, "MSREP_BENCH_THREADS", 2)
	made := func(_ *testing.B, n int) []float64 { return filled(make([]float64, n)) }
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
				m := manyVectors{a: a, count: count, threads: threads, release: values == "released"}
				b.Run("made", func(b *testing.B) { m.run(b, made) })
				b.Run("huge", func(b *testing.B) { m.run(b, vector) })
			})
		}
	}
}

// manyVectors is products of a matrix with so many vectors, on so many workers.
type manyVectors struct {
	a              *sparse.CSR[float64]
	count, threads int
	release        bool
}

// warmProducts is how many products a plan takes until it keeps to one way to multiply several
// vectors, at most.
const warmProducts = 6

// run times products with vectors that alloc gives.
func (m manyVectors) run(b *testing.B, alloc func(b *testing.B, n int) []float64) {
	ctx, a := context.Background(), m.a
	sys := open(b, "cpu", m.threads)
	plan := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true, Storage: msrep.Storage{Release: m.release}})
	x, y := alloc(b, a.Cols), alloc(b, a.Rows+apart)[apart:]
	xs, ys := msrep.MultiVectorByRow(alloc(b, a.Cols*m.count), m.count), msrep.MultiVectorByRow(alloc(b, a.Rows*m.count+apart)[apart:], m.count)
	one := func() error { return plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y) }
	all := func() error { return plan.SpMM(ctx, msrep.NoTrans, 1, xs, 0, ys) }
	took := func(product func() error) time.Duration {
		if err := product(); err != nil {
			b.Fatal(err)
		}
		return plan.LastTiming().Total
	}
	for range warmProducts {
		took(all)
	}
	var ones, many []time.Duration
	for b.Loop() {
		ones, many = append(ones, took(one)), append(many, took(all))
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
	b.ReportMetric((form+float64(m.count)*vectors)/(form+vectors), "bytes")
	b.ReportMetric(0, "ns/op")
	b.Logf("%s: %s", info.Form, info.Why)
}

// BenchmarkManyTransposedOfPlan times transposed products of a plan, which expects
// straight ones only, with several vectors at once beside those with one, and straight
// ones, in turn, on two workers, for matrices with random values:
//
//	N-ms, T-ms, many-ms  a straight product, a transposed one, and one with all vectors
//	many/T               the third over the second; one by one it is the number of vectors
//	many/N               the third over the first
//
// Matrices and vectors are those of BenchmarkManyVectorsOfPlan.
func BenchmarkManyTransposedOfPlan(b *testing.B) {
	count := envInt(b, "MSREP_BENCH_VECTORS", 8)
	for _, in := range inputs(kinds...) {
		b.Run(in.name, func(b *testing.B) {
			a, err := in.read()
			if err != nil {
				b.Fatal(err)
			}
			randomise(a.Val)
			manyTransposedOfPlan(b, a, count)
		})
	}
}

func manyTransposedOfPlan(b *testing.B, a *sparse.CSR[float64], count int) {
	ctx := context.Background()
	sys := open(b, "cpu", 2)
	plan := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true})
	x, y := vector(b, max(a.Rows, a.Cols)), vector(b, max(a.Rows, a.Cols)+apart)[apart:]
	xs, ys := msrep.MultiVectorByRow(vector(b, a.Rows*count), count), msrep.MultiVectorByRow(vector(b, a.Cols*count+apart)[apart:], count)
	calls := []func() error{
		func() error {
			return plan.SpMV(ctx, msrep.NoTrans, 1, x[:a.Cols], 0, y[:a.Rows])
		},
		func() error {
			return plan.SpMV(ctx, msrep.Trans, 1, x[:a.Rows], 0, y[:a.Cols])
		},
		func() error { return plan.SpMM(ctx, msrep.Trans, 1, xs, 0, ys) },
	}
	times := make([][]time.Duration, len(calls))
	for round := -1; b.Loop(); round++ {
		for i, call := range calls {
			if err := call(); err != nil {
				b.Fatal(err)
			}
			if round >= 0 { // the first ones take memory
				times[i] = append(times[i], plan.LastTiming().Total)
			}
		}
	}
	if len(times[0]) == 0 {
		return
	}
	straight, one, many := median(times[0]), median(times[1]), median(times[2])
	b.ReportMetric(straight*1e3, "N-ms")
	b.ReportMetric(one*1e3, "T-ms")
	b.ReportMetric(many*1e3, "many-ms")
	b.ReportMetric(many/one, "many/T")
	b.ReportMetric(many/straight, "many/N")
	b.ReportMetric(0, "ns/op")
	b.Log(plan.Packed(msrep.NoTrans)[0].Form)
}
