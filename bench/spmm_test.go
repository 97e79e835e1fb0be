package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkManyVectors times products with 2 to 64 vectors at once and a product with one vector in plain CSR,
// alternately, for matrices of 200 to 400 MB on two workers:
//
//	x8, ...   time with 8 vectors over the time with one
func BenchmarkManyVectors(b *testing.B) {
	for _, spec := range []string{"stencil:dims=3,points=27,n=108", "stencil:dims=2,points=5,n=2000", "banded:n=150k,band=100"} {
		b.Run(spec, func(b *testing.B) {
			a, _, err := gen.Generate(spec)
			if err != nil {
				b.Fatal(err)
			}
			d, err := cpu.Open(cpu.Config{Threads: 2, NUMANode: -1})
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			s, err := d.NewStream()
			if err != nil {
				b.Fatal(err)
			}
			m := kernels.Compressed[float64]{
				Part: partition.Part{EndIdx: a.NNZ() - 1, EndMajor: a.Rows - 1, OwnEnd: a.Rows},
				Ptr:  kernels.AdoptArray(d, a.RowPtr), Idx: kernels.AdoptArray(d, a.ColIdx), Val: kernels.AdoptArray(d, a.Val)}
			counts := []int{2, 4, 8, 16, 32, 64}
			most := counts[len(counts)-1]
			x, err := kernels.NewArray[float64](d, int64(a.Cols)*int64(most))
			if err != nil {
				b.Fatal(err)
			}
			defer x.Free()
			y, err := kernels.NewArray[float64](d, int64(a.Rows)*int64(most))
			if err != nil {
				b.Fatal(err)
			}
			defer y.Free()
			host, err := kernels.View(d, x)
			if err != nil {
				b.Fatal(err)
			}
			for i := range host {
				host[i] = float64(i % 1000)
			}
			times := map[int][]time.Duration{}
			clock := func(k int, op kernels.Operation) {
				t := time.Now()
				if err := s.Launch(op); err != nil {
					b.Fatal(err)
				}
				times[k] = append(times[k], time.Since(t))
			}
			for b.Loop() {
				clock(1, &kernels.MajorProduct[float64]{A: m, Alpha: 1, X: x.Sub(0, int64(a.Cols)), Y: y.Sub(0, int64(a.Rows))})
				for _, k := range counts {
					block := func(v kernels.Array[float64], rows int) kernels.MultiVector[float64] {
						return kernels.MultiVector[float64]{Val: v.Sub(0, int64(rows)*int64(k)), Cols: k, Stride: k}
					}
					clock(k, &kernels.MajorProductMany[float64]{A: m, Alpha: 1, X: block(x, a.Cols), Y: block(y, a.Rows)})
				}
			}
			for _, k := range counts {
				b.ReportMetric(median(times[k])/median(times[1]), fmt.Sprintf("x%d", k))
			}
		})
	}
}
