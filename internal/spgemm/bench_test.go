package spgemm

import (
	"testing"
)

// BenchmarkMultiply squares generated matrices: both phases, and values alone.
func BenchmarkMultiply(b *testing.B) {
	for _, spec := range []string{"stencil:n=50,points=9", "stencil:n=60,dims=3,points=7", "stencil:n=30,dims=3,points=27", "banded:n=100000,band=8", "rmat:scale=14,edges=8"} {
		a := generated(b, spec)
		b.Run("both/"+spec, func(b *testing.B) {
			t := Timing{}
			for b.Loop() {
				if _, err := MultiplyOn(On{Timing: &t}, a, a); err != nil {
					b.Fatal(err)
				}
			}
			report(b, Multiplications(Work(On{}, a, a)))
			n := float64(b.N) * 1e3
			b.ReportMetric(float64(t.Analyze.Nanoseconds())/n, "µs-analyze")
			b.ReportMetric(float64(t.Compute.Nanoseconds())/n, "µs-compute")
			b.ReportMetric(float64(t.Structure.Nanoseconds())/n, "µs-structure")
		})
		b.Run("values/"+spec, func(b *testing.B) {
			p, err := Symbolic(a, a, nil)
			if err != nil {
				b.Fatal(err)
			}
			val := make([]float64, len(p.ColIdx))
			for b.Loop() {
				if err := Numeric(p, a, a, val, nil); err != nil {
					b.Fatal(err)
				}
			}
			report(b, p.work)
		})
	}
}

// report adds the time for each multiplication.
func report(b *testing.B, n int64) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/product")
}
