//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

// finishAssembly is Finish for n > 0 registers.
func finishAssembly[V sparse.Value](l Level, n int, alpha, beta V, sums, y []V, stream bool) {
	past := 0
	if stream {
		past = 1
	}
	switch y := any(y).(type) {
	case []float64:
		kernel := finishF64AVX512
		if l == AVX2 {
			kernel = finishF64AVX2
		}
		kernel(n, float64(alpha), float64(beta), unsafe.SliceData(any(sums).([]float64)), unsafe.SliceData(y), past)
	case []float32:
		kernel := finishF32AVX512
		if l == AVX2 {
			kernel = finishF32AVX2
		}
		kernel(n, float32(alpha), float32(beta), unsafe.SliceData(any(sums).([]float32)), unsafe.SliceData(y), past)
	}
}

// finishFromAssembly is FinishFrom for n > 0 registers.
func finishFromAssembly[V sparse.Value](l Level, n int, alpha, beta V, at []uint16, sums, y []V, stream bool) {
	past := 0
	if stream {
		past = 1
	}
	switch y := any(y).(type) {
	case []float64:
		kernel := finishFromF64AVX512
		if l == AVX2 {
			kernel = finishFromF64AVX2
		}
		kernel(n, float64(alpha), float64(beta), unsafe.SliceData(at), unsafe.SliceData(any(sums).([]float64)), unsafe.SliceData(y), past)
	case []float32:
		kernel := finishFromF32AVX512
		if l == AVX2 {
			kernel = finishFromF32AVX2
		}
		kernel(n, float32(alpha), float32(beta), unsafe.SliceData(at), unsafe.SliceData(any(sums).([]float32)), unsafe.SliceData(y), past)
	}
}

// permuteAssembly is Permute for n > 0 registers.
func permuteAssembly[V sparse.Value](l Level, n int, at []uint16, from, to []V) {
	switch to := any(to).(type) {
	case []float64:
		kernel := permuteF64AVX512
		if l == AVX2 {
			kernel = permuteF64AVX2
		}
		kernel(n, unsafe.SliceData(at), unsafe.SliceData(any(from).([]float64)), unsafe.SliceData(to))
	case []float32:
		kernel := permuteF32AVX512
		if l == AVX2 {
			kernel = permuteF32AVX2
		}
		kernel(n, unsafe.SliceData(at), unsafe.SliceData(any(from).([]float32)), unsafe.SliceData(to))
	}
}

func loadAheadAssembly[V sparse.Value](x []V) {
	loadAhead(bytesFrom(x, 0), (len(x)*int(unsafe.Sizeof(x[0]))+63)/64)
}

func fenceAssembly() { fence() }
