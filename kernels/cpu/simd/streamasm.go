//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

func streamAssembly[V sparse.Value](l Level, n int, alpha V, v, y []V) {
	switch y := any(y).(type) {
	case []float64:
		v := any(v).([]float64)
		if l == AVX2 {
			streamScaledF64AVX2(n, float64(alpha), &v[0], &y[0])
		} else {
			streamScaledF64AVX512(n, float64(alpha), &v[0], &y[0])
		}
	case []float32:
		v := any(v).([]float32)
		if l == AVX2 {
			streamScaledF32AVX2(n, float32(alpha), &v[0], &y[0])
		} else {
			streamScaledF32AVX512(n, float32(alpha), &v[0], &y[0])
		}
	}
}

func loadAheadAssembly[V sparse.Value](x []V) {
	loadAhead(bytesFrom(x, 0), (len(x)*int(unsafe.Sizeof(x[0]))+63)/64)
}

func fenceAssembly() { fence() }
