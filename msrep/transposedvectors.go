package msrep

import (
	"errors"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

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
