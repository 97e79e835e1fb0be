package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// BenchmarkDeterministic reports the time of deterministic products over that of default products, for plans that
// choose a form and for plain CSR: ratios of medians, timed alternately. The matrices are the files of binary CSR in
// MSREP_BENCH_MATS, or generated ones without it.
func BenchmarkDeterministic(b *testing.B) {
	for _, in := range inputs("stencil:dims=3,n=100,points=27", "stencil:n=1500,points=5", "rmat:scale=18,edges=16", "random:rows=300k,nnz=5M") {
		b.Run(in.name, func(b *testing.B) {
			a, err := in.read()
			require.NoError(b, err)
			sys := open(b, "cpu:1", runtime.GOMAXPROCS(0))
			times := alternately(b, sys, a, func() bool { return b.Loop() },
				msrep.PlanOptions{Deterministic: true}, msrep.PlanOptions{}, msrep.PlanOptions{Deterministic: true, Storage: msrep.Storage{Format: "csr"}}, msrep.PlanOptions{Storage: msrep.Storage{Format: "csr"}})
			b.ReportMetric(times[0]/1e6, "ms")
			b.ReportMetric(times[0]/times[1], "of_default")
			b.ReportMetric(times[2]/times[3], "csr_of_csr")
		})
	}
}

// BenchmarkDeterministicOnRealMatrices reports the same for the collection of real matrices: the median and the
// largest ratio, and the number of ratios above 1.25, each of which gets a line. It also compares a second default
// plan with the first, because each plan times the forms again and may choose another. MSREP_THREADS is the number of
// threads (default 1), MSREP_ENTRIES the least number of entries.
func BenchmarkDeterministicOnRealMatrices(b *testing.B) {
	index := corpus.Shared(b, "matrices", "INDEX.tsv")
	sys := open(b, "cpu:1", corpus.EnvInt(b, "MSREP_THREADS", 1))
	least := corpus.EnvInt(b, "MSREP_ENTRIES", 1)
	for b.Loop() {
		var fixed, again priceReport
		for _, row := range corpus.Table(b, index) {
			nnz, err := strconv.Atoi(row["nnz_expanded"])
			if err != nil || nnz < least || row["field"] == "complex" {
				continue
			}
			m, err := matio.Read(b.Context(), filepath.Join(filepath.Dir(index), row["file"]))
			require.NoError(b, err)
			begin, round := time.Now(), 0
			times := alternately(b, sys, m.CSR, func() bool {
				round++
				return round <= 20 || time.Since(begin) < 40*time.Millisecond
			}, msrep.PlanOptions{Deterministic: true}, msrep.PlanOptions{}, msrep.PlanOptions{})
			require.NoError(b, m.Close())
			again = append(again, times[2]/times[1])
			fixed = append(fixed, times[0]/times[1])
			if ratio := times[0] / times[1]; ratio > maxPrice {
				fmt.Fprintf(os.Stderr, "%s, %d entries: %.2f\n", row["name"], nnz, ratio) // b.Log keeps ten lines
			}
		}
		b.ReportMetric(float64(len(fixed)), "matrices")
		fixed.report(b, "")
		again.report(b, "default_")
	}
}

// maxPrice is the largest acceptable ratio of deterministic to default products.
const maxPrice = 1.25

// priceReport is a list of ratios to the time of the default mode.
type priceReport []float64

func (r priceReport) report(b *testing.B, prefix string) {
	slices.Sort(r)
	beyond, _ := slices.BinarySearch(r, maxPrice)
	b.ReportMetric(r[len(r)/2], prefix+"median")
	b.ReportMetric(r[len(r)-1], prefix+"greatest")
	b.ReportMetric(float64(len(r)-beyond), prefix+"beyond")
}

// alternately multiplies alternately with several plans while more returns true, and returns the median time of a product
// of each plan in nanoseconds. A sample of a short product is the mean of a dozen.
func alternately(b *testing.B, sys *msrep.System, a *sparse.CSR[float64], more func() bool, options ...msrep.PlanOptions) []float64 {
	var plans []*msrep.Plan[float64]
	for _, o := range options {
		runtime.GC() // collect garbage now, not during the search for a form
		p, err := msrep.NewPlan(context.Background(), sys, sparse.Matrix[float64](a), o)
		require.NoError(b, err)
		plans = append(plans, p)
	}
	x, y := make([]float64, a.Cols), make([]float64, a.Rows+64)[64:]
	for i := range x {
		x[i] = float64(i%17) - 8
	}
	times := make([][]time.Duration, len(plans))
	dozen := time.Duration(1 + 20_000/(len(a.Val)+1))
	for more() {
		for i, p := range plans {
			t := time.Now()
			for range dozen {
				err := p.SpMV(context.Background(), msrep.NoTrans, 1, x, 0, y)
				require.NoError(b, err)
			}
			times[i] = append(times[i], time.Since(t)/dozen)
		}
	}
	var medians []float64
	for i, p := range plans {
		slices.Sort(times[i])
		medians = append(medians, float64(times[i][len(times[i])/2]))
		require.NoError(b, p.Close())
	}
	return medians
}
