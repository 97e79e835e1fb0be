package msrep

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// MultiVector is Count vectors of the same length. Element i of vector j is Val[i*Stride+j] (by row), or
// Val[j*Stride+i] if ByColumn is set. Gaps in Val between the elements are neither read nor written.
type MultiVector[V sparse.Value] struct {
	Val      []V
	Count    int // vectors, at least 1 and below 2^31
	Stride   int // by row: from one row to the next, at least Count; by column: from one vector to the next, at least its length
	ByColumn bool
}

// MultiVectorByRow returns count vectors stored by row without gaps. SpMM is fastest with this layout.
func MultiVectorByRow[V sparse.Value](val []V, count int) MultiVector[V] {
	return MultiVector[V]{Val: val, Count: count, Stride: count}
}

// Check returns a *sparse.InputError about name if b cannot hold vectors of n elements.
func (b MultiVector[V]) Check(name string, n int) error {
	runs, length := n, b.Count // runs of contiguous elements, and their length
	if b.ByColumn {
		runs, length = length, runs
	}
	need := int64(runs-1)*int64(b.Stride) + int64(length)
	switch {
	case n < 0 || n > sparse.MaxDim:
		return sparse.Inputf(name, "vectors of %d elements: use 0 to %d", n, sparse.MaxDim)
	case b.Count < 1 || b.Count > math.MaxInt32:
		return sparse.Inputf(name, "%d vectors: there must be at least 1, and fewer than 2^31", b.Count)
	case b.Stride < length || b.Stride > math.MaxInt32:
		return sparse.Inputf(name, "a stride of %d: it must be at least %d and below 2^31", b.Stride, length)
	case runs > 0 && length > 0 && need > int64(len(b.Val)):
		return sparse.Inputf(name, "%d elements: %d vectors of %d at a stride of %d need %d", len(b.Val), b.Count, n, b.Stride, need)
	}
	return nil
}

// Get copies vector j to dst, which has the length of the vectors. It panics, as indexing a slice does, if j is not in
// [0, Count) or Val is too short.
func (b MultiVector[V]) Get(j int, dst []V) {
	b.inRange(j)
	copy(dst, b.vector(j, len(dst), dst))
}

// Set copies src, which has the length of the vectors, to vector j. It panics in the same cases as Get.
func (b MultiVector[V]) Set(j int, src []V) {
	b.inRange(j)
	if b.ByColumn && len(src) > 0 {
		copy(b.Val[j*b.Stride:j*b.Stride+len(src)], src)
		return
	}
	for i, v := range src {
		b.Val[i*b.Stride+j] = v
	}
}

// inRange panics if there is no vector j.
func (b MultiVector[V]) inRange(j int) {
	if j < 0 || j >= b.Count {
		panic(fmt.Sprintf("msrep: vector %d of %d", j, b.Count))
	}
}

// vector returns vector j, of n elements: in place if b is by column, otherwise as a copy in buf.
func (b MultiVector[V]) vector(j, n int, buf []V) []V {
	if b.ByColumn && n > 0 {
		return b.Val[j*b.Stride : j*b.Stride+n]
	}
	for i := range buf {
		buf[i] = b.Val[i*b.Stride+j]
	}
	return buf
}

// vectors returns the vectors lo <= j < hi in place.
func (b MultiVector[V]) vectors(lo, hi int) MultiVector[V] {
	if b.ByColumn {
		b.Val = b.Val[min(lo*b.Stride, len(b.Val)):]
	} else {
		b.Val = b.Val[min(lo, len(b.Val)):]
	}
	b.Count = hi - lo
	return b
}

// rows returns the rows lo <= i < hi of b, which is by row, in place as memory of a device.
func (b MultiVector[V]) rows(d kernels.HostMapper, lo, hi int) kernels.MultiVector[V] {
	return kernels.MultiVector[V]{Val: kernels.AdoptArray(d, b.rowElements(lo, hi)), Cols: b.Count, Stride: b.Stride}
}

// rowElements returns the elements of the rows lo <= i < hi of b, which is by row.
func (b MultiVector[V]) rowElements(lo, hi int) []V {
	if hi <= lo {
		return nil
	}
	return b.Val[lo*b.Stride : (hi-1)*b.Stride+b.Count]
}
