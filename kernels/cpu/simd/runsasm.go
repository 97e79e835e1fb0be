//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type (
	runsKernel[V sparse.Value]           func(n int, groups *uint32, columns *int32, masks *uint8, val, x, sums *V)
	runsTransposedKernel[V sparse.Value] func(n int, groups *uint32, columns *int32, masks *uint8, val, factors, y *V, first int)
)

// runsAssembly is MultiplyRuns with AVX-512.
func runsAssembly[V sparse.Value](r *Runs[V], at RunPosition, n int, x, sums []V) {
	var kernel any
	switch any(r).(type) {
	case *Runs[float64]:
		kernel = pick[runsKernel[float64]](r.One, runsOneF64AVX512, runsF64AVX512)
	case *Runs[float32]:
		kernel = pick[runsKernel[float32]](r.One, runsOneF32AVX512, runsF32AVX512)
	}
	groups, columns, masks := r.from(at)
	kernel.(runsKernel[V])(n, groups, columns, masks, unsafe.SliceData(r.values(at)), unsafe.SliceData(x), &sums[0])
}

// runsTransposedAssembly is AddRunsTransposed with AVX-512.
func runsTransposedAssembly[V sparse.Value](r *Runs[V], at RunPosition, n int, factors, y []V, first int) {
	var kernel any
	switch any(r).(type) {
	case *Runs[float64]:
		kernel = pick[runsTransposedKernel[float64]](r.One, runsTransposedOneF64AVX512, runsTransposedF64AVX512)
	case *Runs[float32]:
		kernel = pick[runsTransposedKernel[float32]](r.One, runsTransposedOneF32AVX512, runsTransposedF32AVX512)
	}
	groups, columns, masks := r.from(at)
	kernel.(runsTransposedKernel[V])(n, groups, columns, masks, unsafe.SliceData(r.values(at)), &factors[0], &y[0], first)
}

// pick is the first kernel where there is one value, else the second.
func pick[K any](one bool, ofOne, ofAll K) K {
	if one {
		return ofOne
	}
	return ofAll
}

// from is where the groups from a position on, their columns and masks lie.
func (r *Runs[V]) from(at RunPosition) (groups *uint32, columns *int32, masks *uint8) {
	return unsafe.SliceData(r.Groups[at.Group:]), unsafe.SliceData(r.First[at.Piece:]), unsafe.SliceData(r.Masks[at.Mask:])
}
