package dense

import (
	"fmt"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/msrep-go/msrep/internal/simd"
)

func filled[V float32 | float64](n int) []V {
	a := make([]V, n)
	for i := range a {
		a[i] = V(i%7) / 8
	}
	return a
}

// eachKind runs a benchmark for each level and type.
func eachKind(b *testing.B, double, single func(b *testing.B)) {
	for _, l := range simd.Levels() {
		defer SetLevel(l)()
		b.Run(l.String()+"/float64", double)
		b.Run(l.String()+"/float32", single)
	}
}

// perSecond reports the operations in a second, in units of 10^9; an operation is a multiplication or an addition.
func perSecond(b *testing.B, operations float64) {
	b.ReportMetric(operations*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Gflop/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPeak measures a product of the columns of one tile, which stay in registers and the first-level cache.
func BenchmarkPeak(b *testing.B) { eachKind(b, benchmarkPeak[float64], benchmarkPeak[float32]) }

func benchmarkPeak[V float32 | float64](b *testing.B) {
	if level == simd.Generic {
		b.Skip("not assembly")
	}
	const depth = 10000
	x, c := filled[V](100), filled[V](1000)
	rows := 3 * simd.RegisterBytes(level) / int(unsafe.Sizeof(x[0]))
	args := productArgs[V]{m: rows, n: columns(level), k: depth, a: &x[0], b: &x[0], bj: 8, c: &c[0], ldc: 8 * rows}
	for b.Loop() {
		subtract(level, &args)
	}
	perSecond(b, 2*float64(rows*columns(level)*depth))
}

func BenchmarkGemm(b *testing.B) { eachKind(b, benchmarkGemm[float64], benchmarkGemm[float32]) }

func benchmarkGemm[V float32 | float64](b *testing.B) {
	for _, s := range [][3]int{
		{9, 9, 3}, {24, 8, 8}, {64, 16, 16}, {65, 17, 16}, {64, 64, 64}, {128, 128, 128}, {200, 200, 32}, {256, 256, 256},
		{1000, 100, 64}, {1000, 1000, 100}, {1024, 1024, 256}, {3000, 3000, 128}, {3000, 64, 256}, {3000, 16, 400},
	} {
		m, n, k := s[0], s[1], s[2]
		x, y, z := filled[V](m*k), filled[V](k*n), filled[V](m*n)
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			for b.Loop() {
				Gemm(m, n, k, x, m, y, k, z, m)
			}
			perSecond(b, 2*float64(m*n*k))
		})
	}
}

func BenchmarkSyrk(b *testing.B) { eachKind(b, benchmarkSyrk[float64], benchmarkSyrk[float32]) }

func benchmarkSyrk[V float32 | float64](b *testing.B) {
	for _, s := range [][2]int{{16, 16}, {64, 16}, {64, 64}, {300, 100}, {1000, 100}} {
		n, k := s[0], s[1]
		x, z := filled[V](n*k), filled[V](n*n)
		b.Run(fmt.Sprintf("%dx%d", n, k), func(b *testing.B) {
			for b.Loop() {
				Syrk(n, k, x, n, z, n)
			}
			perSecond(b, float64(n*(n+1)*k))
		})
	}
}

// BenchmarkGonum measures the product of package blas/gonum, whose matrices are in row-major order.
func BenchmarkGonum(b *testing.B) {
	for _, s := range [][3]int{{24, 8, 8}, {64, 16, 16}, {64, 64, 64}, {256, 256, 256}, {1000, 1000, 100}} {
		m, n, k := s[0], s[1], s[2]
		x, y, z := filled[float64](m*k), filled[float64](k*n), filled[float64](m*n)
		b.Run(fmt.Sprintf("%dx%dx%d", m, n, k), func(b *testing.B) {
			for b.Loop() {
				gonum.Implementation{}.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, -1, x, k, y, n, 1, z, n)
			}
			perSecond(b, 2*float64(m*n*k))
		})
	}
}
