package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// RowSums sums each row of a CSR matrix in the order of its entries, with the same bits on all
// levels:
//
//	sums[r] = 0
//	sums[r] = fma(val[k], x[idx[k]], sums[r])  for k = ptr[r]-ptr[0] ... ptr[r+1]-ptr[0]-1
//
// ptr has len(sums)+1 elements. RowSums checks pointers and indices while it sums. It panics at one
// that is out of range, as plain Go would; the rows before it are done.
func RowSums[V sparse.Value](l simd.Level, ptr []int64, idx []int32, val, x, sums []V) {
	ptr = ptr[:len(sums)+1]
	val = val[:len(idx)]
	if l != simd.Generic && rowSumsKernel(ptr, idx, val, x, sums) {
		return
	}
	k := int64(0)
	for r, e := range ptr[1:] {
		end := e - ptr[0]
		var sum V
		val := val[k:end]
		for i, c := range idx[k:end] {
			sum = form.FMA(val[i], x[c], sum)
		}
		sums[r], k = sum, end
	}
}
