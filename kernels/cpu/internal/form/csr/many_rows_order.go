package csr

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// PermuteRows copies rows: row i of to is row order[i] of x. Both have the same number of columns.
// The rows of to are aligned to registers, or to half a register if they fit in it; the elements
// between them are overwritten. Rows are not checked; they must be in both.
func PermuteRows[V sparse.Value](l simd.Level, order []int32, x, to form.MultiVector[V]) {
	if len(order) == 0 {
		return
	}
	size := int(unsafe.Sizeof(*new(V)))
	if x.Cols*size <= simd.RegisterBytes(simd.AVX2) {
		l = min(l, simd.AVX2)
	}
	if lanes := simd.RegisterBytes(l) / size; l >= simd.AVX2 && to.Stride%lanes == 0 && len(to.Val) >= len(order)*to.Stride {
		full := (x.Cols - 1) / lanes
		permuteRows(l, &permuteArgs[V]{
			n: len(order), order: unsafe.SliceData(order), x: unsafe.SliceData(x.Val), ldx: x.RowBytes(),
			to: unsafe.SliceData(to.Val), ldt: to.RowBytes(), full: full, last: x.Cols - full*lanes,
		})
		return
	}
	for i, from := range order {
		copy(to.Val[i*to.Stride:][:to.Cols], x.Val[int(from)*x.Stride:])
	}
}
