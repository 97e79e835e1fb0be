package order

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

func BenchmarkOrders(b *testing.B) {
	for _, spec := range []string{"stencil:dims=2,n=1000", "stencil:dims=3,n=60"} {
		a := generate(b, spec)
		for _, f := range []struct {
			name string
			call func(*sparse.CSR[float64]) error
		}{
			{"AMD", func(a *sparse.CSR[float64]) error { _, err := AMD(a); return err }},
			{"Dissection", func(a *sparse.CSR[float64]) error { _, err := Dissection(a); return err }},
			{"ColumnAMD", func(a *sparse.CSR[float64]) error { _, err := ColumnAMD(a); return err }},
			{"RCM", func(a *sparse.CSR[float64]) error { _, err := RCM(a); return err }},
			{"Match", func(a *sparse.CSR[float64]) error { _, err := Match(a); return err }},
			{"BlockTriangular", func(a *sparse.CSR[float64]) error { _, err := BlockTriangular(a, nil); return err }},
		} {
			b.Run(f.name+"/"+spec, func(b *testing.B) {
				for b.Loop() {
					require.NoError(b, f.call(a))
				}
			})
		}
	}
}
