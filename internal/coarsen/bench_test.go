package coarsen

import (
	"fmt"
	"testing"

	"github.com/msrep-go/msrep/internal/spgemm"
	"github.com/msrep-go/msrep/sparse"
)

// BenchmarkCoarsen times the steps from one level to the next.
func BenchmarkCoarsen(b *testing.B) {
	elastic2, near2 := elasticity(2)(300)
	elastic3, near3 := elasticity(3)(24)
	for _, c := range []struct {
		name string
		a    *sparse.CSR[float64]
		near [][]float64
		opt  Options
	}{
		{"2D", poisson2D(1024), nil, Options{}},
		{"3D", poisson3D(100), nil, Options{}},
		{"elastic2D", elastic2, near2, Options{Block: 2}},
		{"elastic3D", elastic3, near3, Options{Block: 3}},
		{"convection", convection(512, 1e-3, false), nil, Options{Unsymmetric: true}},
	} {
		b.Run(fmt.Sprintf("coarsen/%s-%d", c.name, c.a.Rows), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Coarsen(c.a, c.near, c.opt); err != nil {
					b.Fatal(err)
				}
			}
		})
		level, err := Coarsen(c.a, c.near, c.opt)
		if err != nil {
			b.Fatal(err)
		}
		r := spgemm.Transpose(level.P, nil)
		b.Run(fmt.Sprintf("transpose/%s-%d", c.name, c.a.Rows), func(b *testing.B) {
			for b.Loop() {
				spgemm.Transpose(level.P, nil)
			}
		})
		b.Run(fmt.Sprintf("product/%s-%d", c.name, c.a.Rows), func(b *testing.B) {
			for b.Loop() {
				if _, err := spgemm.Triple(r, c.a, level.P, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
