package simd

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// Rows multiplies rows of a CSR matrix by x, for each element of y:
//
//	y[r] = alpha * sum over k of val[k]*x[idx[k]] + beta*y[r],  ptr[r]-ptr[0] <= k < ptr[r+1]-ptr[0]
//
// ptr has len(y)+1 elements. beta = 0 does not read y. Pointers and indices are
// checked on the way: one that leaves the arrays is a panic, as in plain Go, with
// the rows before it done.
func Rows[V sparse.Value](l Level, alpha, beta V, ptr []int64, idx []int32, val, x, y []V) {
	ptr = ptr[:len(y)+1]
	val = val[:len(idx)]
	if l < AVX2 {
		rowsGeneric(alpha, beta, ptr[0], ptr, idx, val, x, y)
		return
	}
	var work [rowsWork]V
	known, near := foreseen(len(y), len(idx)), Near(int64(len(idx))*(4+mem.Size[V]()))
	for base := ptr[0]; len(y) > 0; {
		n := min(rowsAtOnce, len(y))
		k := ptr[0] - base
		done := rowsAVX2(alpha, beta, ptr[:n+1], idx[k:], val[k:], x, y[:n], work[:], known, near)
		if done < n { // what it did not do has an index that is out of range
			rowsGeneric(alpha, beta, base, ptr[done:], idx, val, x, y[done:])
		}
		ptr, y = ptr[n:], y[n:]
	}
}

// foreseesRows says whether branches on the lengths of rows cost next to nothing where rows are so few
// that the processor learns where each of them ends, by multiplying by them again and again. It was
// measured on Zen 5 only.
var foreseesRows = zen5

// foreseen says whether rows are so few.
func foreseen(rows, entries int) bool { return foreseesRows && rows+entries/64 <= foreseenRows }

// foreseenRows is how many rows are so few where each takes the least time: one vector. With
// several, where what ends rows under masks takes longer, so are twice as many.
const foreseenRows = 8192

// rowsAtOnce is how many rows are done between two points where Go's scheduler may stop a
// goroutine, rowsWork the elements of memory that the kernels need for a block: the sums of
// 32 rows, and 16 products for each between 16 elements each that are written or read as well.
const (
	rowsAtOnce = 1024
	rowsWork   = 32 + 16 + 32*16 + 16
)

// rowsGeneric is Rows, where entry k is idx[k-base].
func rowsGeneric[V sparse.Value](alpha, beta V, base int64, ptr []int64, idx []int32, val, x, y []V) {
	k := ptr[0] - base
	for r, e := range ptr[1:] {
		e -= base
		sum := alpha * dot(idx[k:e], val[k:e], x)
		if beta != 0 {
			sum += beta * y[r]
		}
		y[r], k = sum, e
	}
}

// dot is the sum of val[k]*x[idx[k]], in two interleaved sums, in plain Go.
func dot[V sparse.Value](idx []int32, val []V, x []V) V {
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
