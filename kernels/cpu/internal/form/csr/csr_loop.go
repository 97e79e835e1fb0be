package csr

import (
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// Rows multiplies rows of a CSR matrix by x, for each element of y:
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r],  ptr[r]-ptr[0] <= k < ptr[r+1]-ptr[0]
//
// ptr has len(y)+1 elements. beta = 0 does not read y. Rows checks pointers and indices while it
// multiplies. It panics at one that is out of range, as plain Go would; the rows before it are
// done.
func Rows[V sparse.Value](l simd.Level, alpha, beta V, ptr []int64, idx []int32, val, x, y []V) {
	ptr = ptr[:len(y)+1]
	val = val[:len(idx)]
	if l == simd.Generic {
		rowsGeneric(alpha, beta, ptr[0], ptr, idx, val, x, y)
		return
	}
	var work [rowsWork]V
	predicted, near := predictable(len(y), len(idx)), form.Near(int64(len(idx))*(4+mem.Size[V]()))
	for base := ptr[0]; len(y) > 0; {
		n := min(rowsAtOnce, len(y))
		restIdx, restVal := idx[ptr[0]-base:], val[ptr[0]-base:]
		a := rowsArgs[V]{
			ptr: unsafe.SliceData(ptr), idx: unsafe.SliceData(restIdx), entries: len(restIdx), val: unsafe.SliceData(restVal),
			x: unsafe.SliceData(x), cols: len(x), y: unsafe.SliceData(y), rows: n,
			work: &work[0], predicted: predicted, near: near, alpha: alpha, beta: beta,
		}
		rowsKernel(&a)
		if done := a.rows; done < n { // the next row has an index out of range
			rowsGeneric(alpha, beta, base, ptr[done:], idx, val, x, y[done:])
		}
		ptr, y = ptr[n:], y[n:]
	}
}

// predictsRows reports whether the processor predicts the ends of rows of all lengths if there are
// few rows that it multiplies again and again. It was measured only on Zen 5.
var predictsRows = form.Zen5

// predictable reports whether there are that few rows.
func predictable(rows, entries int) bool { return predictsRows && rows+entries/64 <= predictedRows }

// predictedRows is the greatest number of rows that is predicted with one vector. With several
// vectors, for which masks at the ends of rows cost more, it is twice as many.
const predictedRows = 8192

// rowsAtOnce is the number of rows between two points at which Go's scheduler may preempt the
// goroutine. rowsWork is the scratch of the kernels for a block: the sums of 32 rows, and 16
// products of each row, with 16 elements before and after them that are read or written as well.
const (
	rowsAtOnce = 1024
	rowsWork   = 32 + 16 + 32*16 + 16
)

// rowsGeneric is Rows in plain Go; entry k is idx[k-base].
func rowsGeneric[V sparse.Value](alpha, beta V, base int64, ptr []int64, idx []int32, val, x, y []V) {
	k := ptr[0] - base
	for r, e := range ptr[1:] {
		e -= base
		sum := alpha * Dot(idx[k:e], val[k:e], x)
		if beta != 0 {
			sum += beta * y[r]
		}
		y[r], k = sum, e
	}
}

// Dot returns the sum of val[k]*x[idx[k]], in two interleaved sums, in plain Go.
func Dot[V sparse.Value](idx []int32, val []V, x []V) V {
	val = val[:len(idx)]
	var s0, s1 V
	k := 0
	for ; k+1 < len(idx); k += 2 {
		s0 += val[k] * x[idx[k]]
		s1 += val[k+1] * x[idx[k+1]]
	}
	if k < len(idx) {
		s0 += val[k] * x[idx[k]]
	}
	return s0 + s1
}
