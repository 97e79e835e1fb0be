package bench

import (
	"context"
	"fmt"
	"sort"
	"testing"
	"time"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkPartition compares the cost of splitting a matrix of 50 M nonzeros with the time of one product, in the
// same run. The matrix has 11 nonzeros per row in a band, which makes its product as fast as possible.
// MSREP_BENCH_NNZ changes the number of nonzeros.
//
//	split/product  the binary searches, with the caches cold as after a product, over one product
//	ptr-GB/s       bytes read and written per second while the local pointers of a device are built
//	ptr/copy       ptr-GB/s over the speed of copying the pointers
func BenchmarkPartition(b *testing.B) {
	nnz := corpus.EnvInt(b, "MSREP_BENCH_NNZ", 50_000_000)
	a, _, err := gen.Generate(fmt.Sprintf("banded:n=%d,band=5", nnz/11))
	if err != nil {
		b.Fatal(err)
	}
	for _, parts := range []int{2, 8, 64} {
		b.Run(fmt.Sprintf("parts=%d", parts), func(b *testing.B) { benchmarkSplit(b, a, parts) })
	}
}

func benchmarkSplit(b *testing.B, a *sparse.CSR[float64], parts int) {
	ctx := context.Background()
	sys := open(b, fmt.Sprintf("cpu:%d", parts), 0)
	plan := planOf(b, sys, a, msrep.PlanOptions{SkipValidation: true})
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	local, copied := make([]int64, a.Rows+1), make([]int64, a.Rows+1)
	all := partition.Part{EndIdx: a.NNZ() - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows}
	var split, product, pointers, copying []time.Duration
	for b.Loop() {
		t := time.Now()
		if err := plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
			b.Fatal(err)
		}
		product = append(product, time.Since(t))
		t = time.Now()
		if _, _, err := partition.Split(a.RowPtr, parts, partition.RuleNNZ); err != nil {
			b.Fatal(err)
		}
		split = append(split, time.Since(t))
		t = time.Now()
		if err := partition.LocalPtr(local, a.RowPtr, all); err != nil {
			b.Fatal(err)
		}
		pointers = append(pointers, time.Since(t))
		t = time.Now()
		parallelCopy(copied, a.RowPtr)
		copying = append(copying, time.Since(t))
	}
	b.ReportMetric(100*median(split)/median(product), "split/product-%")
	b.ReportMetric(16*float64(len(local))/median(pointers)/1e9, "ptr-GB/s")
	b.ReportMetric(median(copying)/median(pointers), "ptr/copy")
	b.ReportMetric(median(product)*1e3, "product-ms")
}

func median(d []time.Duration) float64 {
	sort.Slice(d, func(i, j int) bool { return d[i] < d[j] })
	return d[len(d)/2].Seconds()
}
