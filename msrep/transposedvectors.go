package msrep

import (
	"errors"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// transposedVectors is room for blocks by row that stand for blocks by column in products:
// kept from product to product, since new memory would cost more than turning does.
// The zero value is empty.
type transposedVectors[V sparse.Value] struct{ x, y *mem.Region }

// block is a block of count vectors of n elements in *r. What is in it is left from
// before.
func (*transposedVectors[V]) block(r **mem.Region, n, count int) (MultiVector[V], error) {
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

// fits reports whether there is memory for blocks of so many elements for x and y.
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

// How many elements of a block are worth a goroutine, which takes longer to be woken than to turn a quarter of
// them, and a worker of a device.
const (
	transposedByGoroutine = 1 << 17
	transposedByWorker    = 1 << 10
)

// transposeVectors copies b, by column, of vectors of n elements, to a block by row without gaps;
// or with back, from there to b. Of one CPU device the workers do that multiply, so that
// they have the rows in their own caches.
func (p *Plan[V]) transposeVectors(b, rows MultiVector[V], n int, back bool) error {
	from, to := simd.Grid[V]{Val: b.Val, I: 1, J: b.Stride}, simd.Grid[V]{Val: rows.Val, I: rows.Stride, J: 1}
	if back {
		from, to = to, from
	}
	turn := func(lo, hi int64) {
		simd.CopyTransposed(simd.Default(), int(hi-lo), b.Count, from.From(int(lo)), to.From(int(lo)))
	}
	if m, ok := p.shares[0].packed.(kernels.ManyMultiplier); ok && p.workers() != nil {
		return rangeOn(p.workers(), min(m.Workers(), n*b.Count/transposedByWorker), int64(n), turn)
	}
	par.Range(int64(n), int64(transposedByGoroutine/b.Count+1), turn)
	return nil
}
