package bench

import (
	"context"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkManyVectorsOfPlan times products of a plan with several vectors at once and with one vector, alternately.
// It measures matrices as they are, with random values, and with random values after the plan has released the matrix
// and keeps only the form. Each is measured with vectors from make, in small pages, and with vectors in huge pages:
//
//	one-ms, many-ms   time of a product with one vector, and with all
//	ratio             many-ms over one-ms
//	bytes             the same ratio of the bytes of the form and the vectors, each moved once
//
// The matrices are the files of binary CSR in MSREP_BENCH_MATS, or generated ones without it. MSREP_BENCH_VECTORS is
// the number of vectors (default 8), MSREP_BENCH_THREADS the number of workers (default 2).
func BenchmarkManyVectorsOfPlan(b *testing.B) {
	count, threads := corpus.EnvInt(b, "MSREP_BENCH_VECTORS", 8), corpus.EnvInt(b, "MSREP_BENCH_THREADS", 2)
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

// manyVectors is a product of a matrix with several vectors on several workers.
type manyVectors struct {
	a              *sparse.CSR[float64]
	count, threads int
	release        bool
}

// warmProducts is the largest number of products after which a plan has settled on a way to multiply several vectors.
const warmProducts = 6

// run times products with vectors from alloc.
func (m manyVectors) run(b *testing.B, alloc func(b *testing.B, n int) []float64) {
	ctx, a := context.Background(), m.a
	sys := open(b, "cpu", m.threads)
	plan := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true, Storage: msrep.Storage{Release: m.release}})
	x, y := alloc(b, a.Cols), alloc(b, a.Rows+vectorOffset)[vectorOffset:]
	xs, ys := msrep.MultiVectorByRow(alloc(b, a.Cols*m.count), m.count), msrep.MultiVectorByRow(alloc(b, a.Rows*m.count+vectorOffset)[vectorOffset:], m.count)
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
	if info.Form == kernels.FormCSR { // the matrix in place
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

// BenchmarkManyTransposedOfPlan times transposed products with several vectors at once, transposed products with one
// vector, and products without transpose, alternately, on two workers, for matrices with random values. The plan
// expects no transposed products:
//
//	N-ms, T-ms, many-ms  a product, a transposed one, and a transposed one with all vectors
//	many/T               many-ms over T-ms; multiplying one vector after the other gives the number of vectors
//	many/N               many-ms over N-ms
//
// Matrices and vectors are those of BenchmarkManyVectorsOfPlan.
func BenchmarkManyTransposedOfPlan(b *testing.B) {
	count := corpus.EnvInt(b, "MSREP_BENCH_VECTORS", 8)
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
	x, y := vector(b, max(a.Rows, a.Cols)), vector(b, max(a.Rows, a.Cols)+vectorOffset)[vectorOffset:]
	xs, ys := msrep.MultiVectorByRow(vector(b, a.Rows*count), count), msrep.MultiVectorByRow(vector(b, a.Cols*count+vectorOffset)[vectorOffset:], count)
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
			if round >= 0 { // the first rounds allocate memory
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
