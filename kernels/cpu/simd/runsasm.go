//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type (
	runsKernel[V sparse.Value]           func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *V, last int)
	runsTransposedKernel[V sparse.Value] func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *V, first, last int)
)

// The kernels by level, from AVX2 on, for values of their own and for one value.
var (
	runsKernels64 = [2][2]runsKernel[float64]{{runsF64AVX2, runsOneF64AVX2}, {runsF64AVX512, runsOneF64AVX512}}
	runsKernels32 = [2][2]runsKernel[float32]{{runsF32AVX2, runsOneF32AVX2}, {runsF32AVX512, runsOneF32AVX512}}

	runsTransposedKernels64 = [2][2]runsTransposedKernel[float64]{
		{runsTransposedF64AVX2, runsTransposedOneF64AVX2}, {runsTransposedF64AVX512, runsTransposedOneF64AVX512},
	}
	runsTransposedKernels32 = [2][2]runsTransposedKernel[float32]{
		{runsTransposedF32AVX2, runsTransposedOneF32AVX2}, {runsTransposedF32AVX512, runsTransposedOneF32AVX512},
	}
)

// runsAssembly is MultiplyRuns from AVX2 on.
func runsAssembly[V sparse.Value](l Level, r *Runs[V], at RunPosition, n int, x, sums []V) {
	var kernel any
	switch any(r).(type) {
	case *Runs[float64]:
		kernel = runsKernels64[l-AVX2][r.kernel()]
	case *Runs[float32]:
		kernel = runsKernels32[l-AVX2][r.kernel()]
	}
	groups, columns, masks := r.from(at)
	kernel.(runsKernel[V])(n, groups, columns, masks, unsafe.SliceData(r.values(at)), unsafe.SliceData(x), &sums[0], len(x)-RunColumns[V](l))
}

// runsTransposedAssembly is AddRunsTransposed from AVX2 on, where after is 1.
func runsTransposedAssembly[V sparse.Value](l Level, r *Runs[V], at RunPosition, n int, factors, y []V, first int) {
	var kernel any
	switch any(r).(type) {
	case *Runs[float64]:
		kernel = runsTransposedKernels64[l-AVX2][r.kernel()]
	case *Runs[float32]:
		kernel = runsTransposedKernels32[l-AVX2][r.kernel()]
	}
	groups, columns, masks := r.from(at)
	last := first + len(y) - RunColumns[V](l)
	kernel.(runsTransposedKernel[V])(n, groups, columns, masks, unsafe.SliceData(r.values(at)), &factors[0], &y[0], first, last)
}

// kernel is 1 for one value, else 0.
func (r *Runs[V]) kernel() int {
	if r.One {
		return 1
	}
	return 0
}

// from is where the groups from a position on, their columns and masks lie.
func (r *Runs[V]) from(at RunPosition) (groups *uint32, columns *int32, masks *uint8) {
	return unsafe.SliceData(r.Groups[at.Group:]), unsafe.SliceData(r.First[at.Piece:]), unsafe.SliceData(r.Masks[at.Mask:])
}
