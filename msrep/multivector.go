package msrep

import (
	"errors"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
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

// index returns the index in Val of element i of vector j.
func (b MultiVector[V]) index(i, j int) int {
	if b.ByColumn {
		return j*b.Stride + i
	}
	return i*b.Stride + j
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

// transposedVectors holds buffers for copies by row of vectors by column. A plan keeps them between products, because
// allocating memory takes longer than transposing. The zero value is empty.
type transposedVectors[V sparse.Value] struct{ x, y *mem.Region }

// buffer returns count vectors of n elements in *r, with unspecified content. It enlarges *r if necessary.
func (*transposedVectors[V]) buffer(r **mem.Region, n, count int) (MultiVector[V], error) {
	elements := int64(n) * int64(count)
	bytes := elements * mem.Size[V]()
	if regionBytes(*r) < bytes {
		larger, err := mem.New(bytes)
		if err != nil {
			return MultiVector[V]{}, err
		}
		old := *r
		*r = larger
		if err := freeRegion(old); err != nil {
			return MultiVector[V]{}, err
		}
	}
	if bytes == 0 {
		return MultiVectorByRow[V](nil, count), nil
	}
	val, _ := mem.Slice[V]((*r).Bytes(), elements)
	return MultiVectorByRow(val, count), nil
}

// fits reports whether there is memory for buffers of x and y elements.
func (t *transposedVectors[V]) fits(x, y int64) bool {
	lacks := max(0, x*mem.Size[V]()-regionBytes(t.x)) + max(0, y*mem.Size[V]()-regionBytes(t.y))
	_, ok := mem.Fits(2 * lacks)
	return ok
}

func (t *transposedVectors[V]) bytes() int64 { return regionBytes(t.x) + regionBytes(t.y) }

func (t *transposedVectors[V]) free() error { return errors.Join(freeRegion(t.x), freeRegion(t.y)) }

func regionBytes(r *mem.Region) int64 {
	if r == nil {
		return 0
	}
	return int64(len(r.Bytes()))
}

func freeRegion(r *mem.Region) error {
	if r == nil {
		return nil
	}
	return r.Free()
}

// The least number of elements to transpose on one goroutine, and on one worker of a device. Starting a goroutine takes
// longer than transposing a quarter of its elements.
const (
	transposedByGoroutine = 1 << 17
	transposedByWorker    = 1 << 10
)

// transposeVectors copies b, vectors of n elements by column, to rows, the same vectors by row; with back, it copies
// rows to b. On a single CPU device the workers that multiply also transpose, so that the rows are in their caches.
func (p *Plan[V]) transposeVectors(b, rows MultiVector[V], n int, back bool) error {
	from, to := vec.Grid[V]{Val: b.Val, I: 1, J: b.Stride}, vec.Grid[V]{Val: rows.Val, I: rows.Stride, J: 1}
	if back {
		from, to = to, from
	}
	transpose := func(lo, hi int64) {
		vec.CopyTransposed(int(hi-lo), b.Count, from.From(int(lo)), to.From(int(lo)))
	}
	if m, ok := p.shares[0].packed.(kernels.ManyMultiplier); ok && p.workers() != nil {
		return rangeOn(p.workers(), min(m.Workers(), n*b.Count/transposedByWorker), int64(n), transpose)
	}
	par.Range(int64(n), int64(transposedByGoroutine/b.Count+1), transpose)
	return nil
}
