package dense

import (
	"fmt"
	"testing"
)

// dominant returns an n x n matrix, symmetric and with a dominant diagonal.
func dominant[V float32 | float64](n int) []V {
	a := make([]V, n*n)
	for j := range n {
		for i := range n {
			a[i+j*n] = V((i+j)%7) / 8
		}
		a[j+j*n] = V(n)
	}
	return a
}

// BenchmarkLU eliminates pivots columns of a square front, with the time of a copy of it.
func BenchmarkLU(b *testing.B) { eachKind(b, benchmarkLU[float64], benchmarkLU[float32]) }

func benchmarkLU[V float32 | float64](b *testing.B) {
	for _, s := range [][2]int{{6, 2}, {12, 4}, {30, 8}, {30, 30}, {64, 16}, {64, 64}, {150, 50}, {200, 200}, {500, 150}, {1000, 400}} {
		n, pivots := s[0], s[1]
		a, perm := dominant[V](n), make([]int32, pivots)
		front := make([]V, len(a))
		operations := 0
		for c := range pivots {
			operations += (n - c - 1) * (1 + 2*(n-c-1))
		}
		b.Run(fmt.Sprintf("%dx%d", n, pivots), func(b *testing.B) {
			for b.Loop() {
				copy(front, a)
				LU(n, n, pivots, front, n, perm, 0.1, 1e-30)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns")
			perSecond(b, float64(operations))
		})
	}
}

// BenchmarkCholesky factors whole matrices, with the time of a copy of them.
func BenchmarkCholesky(b *testing.B) {
	eachKind(b, benchmarkCholesky[float64], benchmarkCholesky[float32])
}

func benchmarkCholesky[V float32 | float64](b *testing.B) {
	for _, n := range []int{4, 8, 16, 32, 64, 128, 300, 1000} {
		a := dominant[V](n)
		l := make([]V, len(a))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				copy(l, a)
				if Cholesky(n, l, n) >= 0 {
					b.Fatal("not positive definite")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns")
			perSecond(b, float64(n)*float64(n)*float64(n)/3)
		})
	}
}

// BenchmarkSolves measures the solves of factorisations with 100 columns or rows, and those with one vector.
func BenchmarkSolves(b *testing.B) { eachKind(b, benchmarkSolves[float64], benchmarkSolves[float32]) }

func benchmarkSolves[V float32 | float64](b *testing.B) {
	for _, n := range []int{4, 8, 16, 64, 200} {
		a := dominant[V](n)
		for _, f := range []struct {
			name string
			m    int
			do   func(m int, x []V)
		}{
			{"LowerUnitSolve", 100, func(m int, x []V) { LowerUnitSolve(n, m, a, n, x, n) }},
			{"UpperRightSolve", 100, func(m int, x []V) { UpperRightSolve(m, n, a, n, x, m) }},
			{"LowerRightTransSolve", 100, func(m int, x []V) { LowerRightTransSolve(m, n, a, n, x, m) }},
			{"LowerUnitSolveVec", 1, func(_ int, x []V) { LowerUnitSolveVec(n, a, n, x) }},
			{"LowerSolveVec", 1, func(_ int, x []V) { LowerSolveVec(n, a, n, x) }},
			{"UpperSolveVec", 1, func(_ int, x []V) { UpperSolveVec(n, a, n, x) }},
			{"LowerTransSolveVec", 1, func(_ int, x []V) { LowerTransSolveVec(n, a, n, x) }},
			{"UpperTransSolveVec", 1, func(_ int, x []V) { UpperTransSolveVec(n, a, n, x) }},
		} {
			x := make([]V, n*f.m)
			b.Run(fmt.Sprintf("%s/%d", f.name, n), func(b *testing.B) {
				for b.Loop() {
					f.do(f.m, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns")
				perSecond(b, float64(n)*float64(n)*float64(f.m))
			})
		}
	}
}

// BenchmarkGemv measures products with one vector and a matrix of the given size.
func BenchmarkGemv(b *testing.B) { eachKind(b, benchmarkGemv[float64], benchmarkGemv[float32]) }

func benchmarkGemv[V float32 | float64](b *testing.B) {
	for _, s := range [][2]int{{20, 8}, {100, 32}, {500, 100}, {2000, 400}} {
		m, n := s[0], s[1]
		a, x, y := filled[V](m*n), make([]V, n), make([]V, m)
		for name, f := range map[string]func(){
			"GemvSub":      func() { GemvSub(m, n, a, m, x, y) },
			"GemvTransSub": func() { GemvTransSub(m, n, a, m, y, x) },
		} {
			b.Run(fmt.Sprintf("%s/%dx%d", name, m, n), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns")
				perSecond(b, 2*float64(m*n))
			})
		}
	}
}
