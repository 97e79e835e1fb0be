//go:build amd64

package simd

import (
	"unsafe"

	"github.com/msrep-go/msrep/sparse/cpms"
)

type (
	joinKernel   func(dst *float64, src *byte, step, n int)
	rowsKernel   func(y *float64, rows int, ptr *int64, idx *int32, val *float64, x *byte)
	slicesKernel func(y *float64, slices int, count *int32, off *int64, idx *int32, val *float64, x *byte)
	rankKernel   func(sum *float64, n int, cur, next *byte, degree *int32, damping, add float64) float64
)

// The kernels: by Level-AVX2, the segments that are read, the width of the vector
// over 2, and whether there are values or degrees, as far as these apply.
var (
	join2Kernels = [2][3]joinKernel{
		{1: join1of2F64AVX2, 2: join2of2F64AVX2},
		{1: join1of2F64AVX512, 2: join2of2F64AVX512},
	}
	join4Kernels = [2][5]joinKernel{
		{1: join1of4F64AVX2, 2: join2of4F64AVX2, 3: join3of4F64AVX2, 4: join4of4F64AVX2},
		{1: join1of4F64AVX512, 2: join2of4F64AVX512, 3: join3of4F64AVX512, 4: join4of4F64AVX512},
	}
	headRowsKernels = [5][2]rowsKernel{
		1: {headRowsSum2AVX2, headRowsDot2AVX2},
		2: {headRowsSum4AVX2, headRowsDot4AVX2},
		3: {headRowsSum6AVX2, headRowsDot6AVX2},
		4: {headRowsSum8AVX2, headRowsDot8AVX2},
	}
	headSlicesKernels = [2][5][2]slicesKernel{
		{
			1: {headSlicesSum2AVX2, headSlicesDot2AVX2},
			2: {headSlicesSum4AVX2, headSlicesDot4AVX2},
			3: {headSlicesSum6AVX2, headSlicesDot6AVX2},
			4: {headSlicesSum8AVX2, headSlicesDot8AVX2},
		}, {
			1: {headSlicesSum2AVX512, headSlicesDot2AVX512},
			2: {headSlicesSum4AVX512, headSlicesDot4AVX512},
			3: {headSlicesSum6AVX512, headSlicesDot6AVX512},
			4: {headSlicesSum8AVX512, headSlicesDot8AVX512},
		},
	}
	rankKernels = [5][2]rankKernel{
		2: {rankSum4AVX2, rankDot4AVX2},
		3: {rankSum6AVX2, rankDot6AVX2},
		4: {rankSum8AVX2, rankDot8AVX2},
	}
)

func joinSegments(l Level, dst []float64, a *cpms.Array, at, step, k int) {
	if s := a.Segments32(); s != nil {
		join2Kernels[l-AVX2][k](&dst[0], (*byte)(unsafe.Pointer(&s[at])), 4*step, len(dst))
		return
	}
	s := a.Segments16()
	join4Kernels[l-AVX2][k](&dst[0], (*byte)(unsafe.Pointer(&s[at])), 2*step, len(dst))
}

func headRows(y []float64, ptr []int64, idx []int32, val []float64, x *cpms.Heads) {
	kernel := &headRowsKernels[x.Width()/2][given(val)]
	(*kernel)(unsafe.SliceData(y), len(y), &ptr[0], &idx[0], unsafe.SliceData(val), tails(x))
}

func headSlices(l Level, y []float64, count []int32, off []int64, idx []int32, val []float64, x *cpms.Heads) {
	kernel := &headSlicesKernels[l-AVX2][x.Width()/2][given(val)]
	(*kernel)(unsafe.SliceData(y), len(off)-1, &count[0], &off[0], &idx[0], unsafe.SliceData(val), tails(x))
}

// rank does the first nodes, and gives their number: none where the vectors have
// different widths, or one for which there is no kernel.
func rank(sum []float64, cur, next *cpms.Heads, first int, degree []int32, damping, add float64) (done int, diff float64) {
	w := next.Width()
	done = len(sum) &^ 3
	if done == 0 || cur.Width() != w || rankKernels[w/2][0] == nil {
		return 0, 0
	}
	from := (*byte)(unsafe.Add(unsafe.Pointer(tails(cur)), w*first))
	to := (*byte)(unsafe.Add(unsafe.Pointer(tails(next)), w*first+8-w))
	return done, rankKernels[w/2][given(degree)](&sum[0], done, from, to, unsafe.SliceData(degree), damping, add)
}

func given[T any](s []T) int {
	if s == nil {
		return 0
	}
	return 1
}

// tails is where the kernels find value 0, 8 bytes before its end.
func tails(x *cpms.Heads) *byte {
	if f := x.Floats(); f != nil {
		return (*byte)(unsafe.Pointer(unsafe.SliceData(f)))
	}
	return unsafe.SliceData(x.Tails())
}
