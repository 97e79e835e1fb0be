package bench

import (
	"context"
	"testing"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse/gen"
)

// BenchmarkSmallProduct times a product of 994 nonzeros through a plan on one worker: the overhead of a product.
func BenchmarkSmallProduct(b *testing.B) {
	ctx := context.Background()
	a, _, err := gen.Generate("banded:n=200,band=2")
	if err != nil {
		b.Fatal(err)
	}
	sys := open(b, "cpu:1", 1)
	plan := planOf(b, sys, a, msrep.PlanOptions{})
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	b.ReportAllocs()
	for b.Loop() {
		if err := plan.SpMV(ctx, msrep.NoTrans, 1.5, x, 0.5, y); err != nil {
			b.Fatal(err)
		}
	}
}
