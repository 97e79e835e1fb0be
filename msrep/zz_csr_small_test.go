package msrep_test

import (
	"context"
	"testing"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse/gen"
)

func BenchmarkSmall(b *testing.B) {
	a, _, err := gen.Generate("banded:n=200,band=2")
	if err != nil {
		b.Fatal(err)
	}
	for _, dev := range []string{"cpu:1"} {
		sys, _ := msrep.Open(msrep.Config{Devices: dev, Threads: 1})
		p, err := msrep.NewPlan(context.Background(), sys, a, msrep.PlanOptions{})
		if err != nil {
			b.Fatal(err)
		}
		x, y := make([]float64, a.Cols), make([]float64, a.Rows)
		b.Run(dev, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.SpMV(context.Background(), msrep.NoTrans, 1.5, x, 0.5, y); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
