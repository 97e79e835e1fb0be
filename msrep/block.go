package msrep

import (
	"fmt"
	"math"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// MultiVector is Count vectors of the same length. Element i of vector j is
// Val[i*Stride+j], or Val[j*Stride+i] when ByColumn is set. What lies in Val beside
// the elements is neither read nor written.
type MultiVector[V sparse.Value] struct {
	Val      []V
	Count    int // vectors, at least 1 and below 2^31
	Stride   int // from row to row, at least Count; by column from vector to vector, at least their length
	ByColumn bool
}

// MultiVectorByRow is a block without gaps whose elements lie row by row: what SpMM is fastest
// with.
func MultiVectorByRow[V sparse.Value](val []V, count int) MultiVector[V] {
	return MultiVector[V]{Val: val, Count: count, Stride: count}
}

// Check says what is wrong with a block of vectors of n elements: a *sparse.InputError
// about name.
func (b MultiVector[V]) Check(name string, n int) error {
	runs, length := n, b.Count // of elements without a gap
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

// Get copies vector j to dst, which has the length of the vectors. Like an index of a
// slice, j must be in [0, Count) and the elements within Val: it panics otherwise.
func (b MultiVector[V]) Get(j int, dst []V) {
	b.inRange(j)
	copy(dst, b.vector(j, len(dst), dst))
}

// Set copies src, which has the length of the vectors, to vector j. It panics as Get does.
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

// inRange panics where there is no vector j.
func (b MultiVector[V]) inRange(j int) {
	if j < 0 || j >= b.Count {
		panic(fmt.Sprintf("msrep: vector %d of a block of %d", j, b.Count))
	}
}

// vector is vector j, of n elements: where it lies by column, or copied to buf.
func (b MultiVector[V]) vector(j, n int, buf []V) []V {
	if b.ByColumn && n > 0 {
		return b.Val[j*b.Stride : j*b.Stride+n]
	}
	for i := range buf {
		buf[i] = b.Val[i*b.Stride+j]
	}
	return buf
}

// vectors is vectors lo <= j < hi of a block.
func (b MultiVector[V]) vectors(lo, hi int) MultiVector[V] {
	if b.ByColumn {
		b.Val = b.Val[min(lo*b.Stride, len(b.Val)):]
	} else {
		b.Val = b.Val[min(lo, len(b.Val)):]
	}
	b.Count = hi - lo
	return b
}

// rows is rows lo <= i < hi of a block by row, in place on a device.
func (b MultiVector[V]) rows(d kernels.HostMapper, lo, hi int) kernels.MultiVector[V] {
	return kernels.MultiVector[V]{Val: kernels.AdoptArray(d, b.between(lo, hi)), Cols: b.Count, Stride: b.Stride}
}

// between is the elements of rows lo <= i < hi of a block by row.
func (b MultiVector[V]) between(lo, hi int) []V {
	if hi <= lo {
		return nil
	}
	return b.Val[lo*b.Stride : (hi-1)*b.Stride+b.Count]
}
