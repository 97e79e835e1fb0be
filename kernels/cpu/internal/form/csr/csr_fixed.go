package csr

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// fixedBlock is the number of rows that are summed before their results are stored. A store to y
// delays loads of x from addresses that are equal to it modulo 4 KiB.
const fixedBlock = 128

// MultiplyFixed computes kernels.MajorProductFixed from rows in CSR. If short is true, no row has more
// than kernels.FixedChunk entries; otherwise MultiplyFixed checks the lengths. It panics if a
// column is outside x.
func MultiplyFixed[V sparse.Value](l simd.Level, r form.Rows[V], short bool, alpha, beta V, x, y []V) {
	var sums [fixedBlock]V
	for lo := 0; lo < len(y); lo += fixedBlock {
		n := min(fixedBlock, len(y)-lo)
		ptr := r.Ptr[lo : lo+n+1]
		if short || form.Longest(ptr) <= kernels.FixedChunk {
			sumShort(&r, l, ptr, x, sums[:n])
		} else {
			mixed(&r, l, ptr, x, sums[:n])
		}
		form.StoreRows(l, alpha, beta, sums[:n], y[lo:lo+n], false)
	}
}

// mixed sums rows of any length. It sums the rows between two long ones with one call.
func mixed[V sparse.Value](r *form.Rows[V], l simd.Level, ptr []int64, x, sums []V) {
	first := 0
	for i := range sums {
		if ptr[i+1]-ptr[i] > kernels.FixedChunk {
			sumShort(r, l, ptr[first:i+1], x, sums[first:i])
			sums[i] = sumLong(r, l, ptr[i], ptr[i+1], x)
			first = i + 1
		}
	}
	sumShort(r, l, ptr[first:], x, sums[first:])
}

// sumShort sums rows of at most one chunk each.
func sumShort[V sparse.Value](r *form.Rows[V], l simd.Level, ptr []int64, x, sums []V) {
	k, end := ptr[0]-r.Ptr[0], ptr[len(ptr)-1]-r.Ptr[0]
	RowSums(l, ptr, r.Idx[k:end], r.Val[k:end], x, sums)
}

// sumLong returns the sum of the entries k <= i < end, which are a row of several chunks.
func sumLong[V sparse.Value](r *form.Rows[V], l simd.Level, k, end int64, x []V) V {
	const batch = 32 // number of chunks that one call sums
	var (
		s      form.Stripes[V]
		chunks [batch]V
		cuts   [batch + 1]int64
	)
	for first := 0; k < end; first += batch {
		cuts[0] = k
		n := 0
		for ; n < batch && k < end; n++ {
			k = min(k+kernels.FixedChunk, end)
			cuts[n+1] = k
		}
		sumShort(r, l, cuts[:n+1], x, chunks[:n])
		s.Add(first, chunks[:n])
	}
	return s.Sum()
}
