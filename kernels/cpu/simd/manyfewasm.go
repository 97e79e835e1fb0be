//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type fewKernel[V sparse.Value] func(n, width int, masks *uint16, val *V, offsets *int64, x *V, row int, y *V, alpha, beta V, reads, stream bool)

// The kernels by vectors less two.
var (
	few64 = []fewKernel[float64]{few2F64AVX512, few3F64AVX512, few4F64AVX512, few5F64AVX512, few6F64AVX512, few7F64AVX512}
	few32 = []fewKernel[float32]{few2F32AVX512, few3F32AVX512, few4F32AVX512}
)

// fewAssembly is multiply for slices that have all rows and few vectors, as suitsFew says.
func (s *manyShape[V]) fewAssembly(alpha, beta V, x, y Block[V], stream bool) {
	switch s := any(s).(type) {
	case *manyShape[float64]:
		callFew(few64[y.Cols-2], s, float64(alpha), float64(beta), any(x).(Block[float64]), any(y).(Block[float64]), stream)
	case *manyShape[float32]:
		callFew(few32[y.Cols-2], s, float32(alpha), float32(beta), any(x).(Block[float32]), any(y).(Block[float32]), stream)
	}
}

func callFew[V sparse.Value](kernel fewKernel[V], s *manyShape[V], alpha, beta V, x, y Block[V], stream bool) {
	kernel(s.n, len(s.offsets), unsafe.SliceData(s.masks), unsafe.SliceData(s.val), unsafe.SliceData(s.offsets),
		unsafe.SliceData(x.Val), s.row, unsafe.SliceData(y.Val), alpha, beta, beta != 0, stream)
}
