package cpu

import (
	"fmt"
	"math"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// gatherFixed runs kernels.GatherFixed. Workers share the rows; none is cut.
func gatherFixed[V sparse.Value](d *Device, op *kernels.GatherFixed[V]) (err error) {
	v := newViews(d)
	defer v.close(&err)
	a := viewCompressed(v, op.A)
	x := view(v, "x", op.X, op.X.Len)
	y := view(v, "y", op.Y, int64(op.A.Part.OwnEnd-op.A.Part.OwnFirst))
	if v.err != nil {
		return v.err
	}
	rows := len(a.ptr) - 1
	if a.part.StartFlag || a.ptr[rows] != a.part.EndIdx+1 {
		return fmt.Errorf("%w: part %+v does not hold whole rows", kernels.ErrArgument, a.part)
	}
	n := d.workers(a.part)
	return d.pool.run(n, func(i int) {
		lo, hi := wholeRows(a.ptr, n, i), wholeRows(a.ptr, n, i+1)
		a.multiplyFixed(lo, hi, op.Short, op.Alpha, op.Beta, x, y)
	})
}

// wholeRows is where piece i of parts begins, so that rows and entries together are
// shared out evenly.
func wholeRows(ptr []int64, parts, i int) int {
	rows := len(ptr) - 1
	want := par.Cut(ptr[rows]-ptr[0]+int64(rows), parts, i)
	return sort.Search(rows, func(r int) bool { return ptr[r]-ptr[0]+int64(r) >= want })
}

// scanRows is how many rows are looked through for long ones at a time.
const scanRows = 512

// multiplyFixed computes the rows [lo, hi): runs of short rows at once, long ones
// chunk by chunk. short says that there are no long ones.
func (a compressed[V]) multiplyFixed(lo, hi int, short bool, alpha, beta V, x, y []V) {
	for ; lo < hi; lo += scanRows {
		end := min(lo+scanRows, hi)
		if short || a.longest(lo, end) <= kernels.FixedChunk {
			a.fixedRows(lo, end, alpha, beta, x, y)
			continue
		}
		for r := lo; r < end; r++ {
			if a.ptr[r+1]-a.ptr[r] <= kernels.FixedChunk {
				a.fixedRows(r, r+1, alpha, beta, x, y)
				continue
			}
			sum := alpha * a.longSum(r, x)
			if beta != 0 {
				sum = simd.FMA(beta, y[r], sum)
			}
			y[r] = sum
			quiet(y[r : r+1])
		}
	}
}

// longest is the number of entries of the longest of the rows [lo, hi).
func (a compressed[V]) longest(lo, hi int) (most int64) {
	from := a.ptr[lo]
	for _, to := range a.ptr[lo+1 : hi+1] {
		most, from = max(most, to-from), to
	}
	return most
}

// fixedRows computes the rows [lo, hi), none of more than a chunk.
func (a compressed[V]) fixedRows(lo, hi int, alpha, beta V, x, y []V) {
	k, end, base := a.ptr[lo], a.ptr[hi], a.part.StartIdx
	simd.FixedRows(simd.Default(), alpha, beta, a.ptr[lo:hi+1], a.idx[k-base:end-base], a.val[k-base:end-base], x, y[lo:hi])
	quiet(y[lo:hi])
}

// longSum is the sum of a row of several chunks.
func (a compressed[V]) longSum(r int, x []V) V {
	const batch = 64 // chunks that are summed at once
	var (
		s     [kernels.FixedStripes]V
		chunk [batch]V
		ptr   [batch + 1]int64
	)
	k, end, base := a.ptr[r], a.ptr[r+1], a.part.StartIdx
	for k < end {
		ptr[0] = k
		n := 0
		for ; n < batch && k < end; n++ {
			k = min(k+kernels.FixedChunk, end)
			ptr[n+1] = k
		}
		lo, hi := ptr[0]-base, k-base
		simd.FixedRows(simd.Default(), 1, 0, ptr[:n+1], a.idx[lo:hi], a.val[lo:hi], x, chunk[:n])
		for c, v := range chunk[:n] {
			s[c%len(s)] += v // batch is a multiple of the number of stripes
		}
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}

// quiet replaces NaN by the one that every device stores.
func quiet[V sparse.Value](y []V) {
	for i, v := range y {
		if v != v {
			y[i] = V(math.Float64frombits(0x7FF8000000000000))
		}
	}
}
