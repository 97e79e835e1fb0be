//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse"
)

type sliceKernel[V sparse.Value] func(n int, widths *uint32, masks *uint16, val, idx *byte, x, table, sums *V, keep int)

// The kernels by Level-AVX2, Storage, and whether indices are wide.
var (
	sliceKernels64 = [2][storages][2]sliceKernel[float64]{
		{
			{slicesFull16F64AVX2, slicesFull32F64AVX2},
			{slicesShort16F64AVX2, slicesShort32F64AVX2},
			{slicesTable16F64AVX2, slicesTable32F64AVX2},
			{slicesSame16F64AVX2, slicesSame32F64AVX2},
			{slicesHigh3216F64AVX2, slicesHigh3232F64AVX2},
			{slicesHigh1616F64AVX2, slicesHigh1632F64AVX2},
		}, {
			{slicesFull16F64AVX512, slicesFull32F64AVX512},
			{slicesShort16F64AVX512, slicesShort32F64AVX512},
			{slicesTable16F64AVX512, slicesTable32F64AVX512},
			{slicesSame16F64AVX512, slicesSame32F64AVX512},
			{slicesHigh3216F64AVX512, slicesHigh3232F64AVX512},
			{slicesHigh1616F64AVX512, slicesHigh1632F64AVX512},
		},
	}
	sliceKernels32 = [2][storages][2]sliceKernel[float32]{
		{
			{slicesFull16F32AVX2, slicesFull32F32AVX2},
			Table:  {slicesTable16F32AVX2, slicesTable32F32AVX2},
			Same:   {slicesSame16F32AVX2, slicesSame32F32AVX2},
			High16: {slicesHigh1616F32AVX2, slicesHigh1632F32AVX2},
		}, {
			{slicesFull16F32AVX512, slicesFull32F32AVX512},
			Table:  {slicesTable16F32AVX512, slicesTable32F32AVX512},
			Same:   {slicesSame16F32AVX512, slicesSame32F32AVX512},
			High16: {slicesHigh1616F32AVX512, slicesHigh1632F32AVX512},
		},
	}
)

func slicesAssembly[V sparse.Value](l Level, s *Slices[V], at Position, n int, x, sums []V, add bool) {
	keep := 0
	if add {
		keep = -1
	}
	switch s := any(s).(type) {
	case *Slices[float64]:
		callSlices(&sliceKernels64[l-AVX2][s.Values.Storage], s, at, n, any(x).([]float64), any(sums).([]float64), keep)
	case *Slices[float32]:
		callSlices(&sliceKernels32[l-AVX2][s.Values.Storage], s, at, n, any(x).([]float32), any(sums).([]float32), keep)
	}
}

func callSlices[V sparse.Value](kernels *[2]sliceKernel[V], s *Slices[V], at Position, n int, x, sums []V, keep int) {
	widths := s.Widths[2*at.Slice : 2*(at.Slice+n)]
	masks := s.Masks[at.Mask:]
	kernel, idx := kernels[0], (*byte)(nil)
	k := at.Column * s.Values.Lanes
	if s.Narrow != nil {
		idx = bytesFrom(s.Narrow, k)
	} else {
		kernel, idx = kernels[1], bytesFrom(s.Wide, k)
	}
	kernel(n, unsafe.SliceData(widths), unsafe.SliceData(masks), s.Values.from(at.Column), idx,
		unsafe.SliceData(x), unsafe.SliceData(s.Values.Table), unsafe.SliceData(sums), keep)
}
