package leftlooking

import "testing"

// BenchmarkMemplus measures the steps of a solve of memplus, a circuit.
func BenchmarkMemplus(b *testing.B) {
	a := readMatrix(b, "memplus")
	s, err := Analyze(b.Context(), a, Options{})
	if err != nil {
		b.Fatal(err)
	}
	f, err := s.Factor(b.Context(), a)
	if err != nil {
		b.Fatal(err)
	}
	x, y, work := make([]float64, a.Rows), make([]float64, a.Rows), make([]float64, 2*a.Rows)
	for i := range x {
		x[i] = 1
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Analyze", func() error { _, err := Analyze(b.Context(), a, Options{}); return err }},
		{"Factor", func() error { _, err := s.Factor(b.Context(), a); return err }},
		{"Refactor", func() error { return f.Refactor(b.Context(), a) }},
		{"Solve", func() error { f.Solve(x, y, work); return nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
