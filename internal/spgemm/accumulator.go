package spgemm

import (
	"sync"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// accumulator computes rows of products with one right factor. One goroutine uses it at a time.
type accumulator[V sparse.Value] struct {
	b     *sparse.CSR[V]
	order order // of b
	wide  bool  // an array of all columns may be allocated
	dense *dense[V]
	hash  hash[V]
	merge merger

	rowBytes int64 // average size of a row of b
	reader   reader[V]
}

// newAccumulator returns an accumulator for a right factor.
func newAccumulator[V sparse.Value](b *sparse.CSR[V], o order, wide bool) accumulator[V] {
	return accumulator[V]{b: b, order: o, wide: wide, rowBytes: b.Bytes() / int64(max(b.Rows, 1))}
}

// These pools keep dense accumulators, cleared, for later products.
var dense64, dense32 sync.Pool

func pool[V sparse.Value]() *sync.Pool {
	if mem.Size[V]() == 8 {
		return &dense64
	}
	return &dense32
}

// takeDense sets dense for the columns of b.
func (s *accumulator[V]) takeDense() {
	if s.dense == nil {
		s.dense, _ = pool[V]().Get().(*dense[V])
		if s.dense == nil {
			s.dense = &dense[V]{}
		}
		s.dense.grow(s.b.Cols)
	}
}

// release returns the arrays to the pool. After a panic they are not cleared, and it must not be called.
func (s *accumulator[V]) release() {
	if s.dense != nil {
		pool[V]().Put(s.dense)
		s.dense = nil
	}
}

// size bounds a row of a product.
type size struct {
	products int64 // number of multiplications
	lo, hi   int32 // its columns are in [lo, hi]
}

// bound bounds a row of A B. The row of A has the columns row.
func (s *accumulator[V]) bound(row []int32) (z size) {
	b := s.b
	if s.order == unsorted {
		for _, k := range row {
			z.products += b.RowPtr[k+1] - b.RowPtr[k]
		}
		z.hi = int32(max(b.Cols-1, 0))
		return z
	}
	z.lo = 1<<31 - 1
	for _, k := range row {
		first, end := b.RowPtr[k], b.RowPtr[k+1]
		if first < end {
			z.products += end - first
			z.lo, z.hi = min(z.lo, b.ColIdx[first]), max(z.hi, b.ColIdx[end-1])
		}
	}
	return z
}

// inArray reports whether a row is summed in arrays of all columns.
func (s *accumulator[V]) inArray(products int64) bool { return s.wide || products >= int64(s.b.Cols)/8 }

// columns stores the columns of a row of A B in cols, ascending, and returns their number. cols must have room for
// min(z.products, b.Cols) elements. The row of A has the columns row.
func (s *accumulator[V]) columns(row []int32, z size, cols []int32) int {
	switch {
	case z.products == 0:
		return 0
	case len(row) == 1 && s.order == strict:
		return copy(cols, s.b.ColIdx[s.b.RowPtr[row[0]]:s.b.RowPtr[row[0]+1]])
	case len(row) <= mergeRows && s.order == strict && !z.near():
		return s.merge.columns(rowsOf(s.b, row), len(row), z.products, cols)
	case !s.inArray(z.products):
		return s.hash.columns(s.b, row, z.products, cols)
	}
	s.takeDense()
	switch {
	case z.near():
		s.dense.markNear(s.b, row)
		return s.dense.columnsNear(z, cols)
	case z.scattered(len(row)):
		return s.dense.columnsScattered(z, s.dense.markScattered(s.b, row, z.products), cols)
	default:
		s.dense.mark(s.b, row)
	}
	return s.dense.columns(z, cols)
}

// farBytes is the size of a part of B from which load pays: it then exceeds the second-level cache.
const farBytes = 1 << 20

// load brings the rows of B that the next row of A names into the cache, if they lie in a part of B of at least farBytes:
// their columns, and their values if values is set. The product would wait for one after the other.
func (s *accumulator[V]) load(row []int32, values bool) {
	if len(row) < 2 || int64(row[len(row)-1]-row[0])*s.rowBytes < farBytes {
		return
	}
	s.reader.load(s.b, row, values)
}

// gather computes the values of a row of A B whose columns are cols. The row of A has the columns row and the values by.
func (s *accumulator[V]) gather(row []int32, by []V, cols []int32, vals []V) {
	switch {
	case len(cols) == 0:
	case len(row) == 1 && s.order == strict:
		x := s.b.Val[s.b.RowPtr[row[0]]:s.b.RowPtr[row[0]+1]][:len(vals)]
		for i := range vals {
			vals[i] = by[0] * x[i]
		}
	case s.inArray(int64(len(cols))):
		s.takeDense()
		s.dense.gather(s.b, row, by, cols, vals)
	default:
		s.hash.gather(s.b, row, by, cols, vals)
	}
}
