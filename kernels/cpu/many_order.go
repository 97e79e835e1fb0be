package cpu

import (
	"errors"
	"slices"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/form"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// hotBytes is how much of x the hot columns have together: what the last cache holds
// beside all that streams through it, and what address translation reaches in small
// pages. It is replaced in tests.
var hotBytes = 8 << 20

const (
	// hotSample is how many entries are looked at to find the hot columns.
	hotSample = 8 << 20
	// hotShare is the least share of the entries in hot columns that is worth a trial.
	hotShare = 0.5
)

// orderedColumns is the rows of a part with other numbers for the columns: the hot ones,
// in which most entries lie, are first, then the others, both in their order. x is copied
// in that order for each product, with rows that do not reach over the end of a cache
// line. In a matrix of a power law, whose hot columns are strewn over all of x, these then
// lie in few pages and are kept by the caches. Where there are no hot columns the copy
// alone may pay.
//
// The order of the entries of a row is that of the caller, so that results are the same
// to the last bit.
type orderedColumns[V sparse.Value] struct {
	rows *manyRows[V]
	hot  []int32       // the hot columns, in order
	x    simd.Block[V] // room for x in the new order
	mem  []kernels.Buffer
}

// orderColumns orders the columns of a part for products with blocks like x: nil where that
// is not likely to help, or there is no memory.
func orderColumns[V sparse.Value](p *packed[V], op *kernels.Packing[V], x simd.Block[V]) (*orderedColumns[V], error) {
	stride, nnz := lineStride[V](x.Cols), p.part.NNZ()
	if _, ok := mem.Fits(2 * (int64(op.Minors)*int64(stride)*mem.Size[V]() + 4*nnz)); !ok {
		return nil, nil
	}
	h := &orderedColumns[V]{rows: p.rows, x: simd.Block[V]{Cols: x.Cols, Stride: stride}}
	err := p.dev.pool.run(1, func(int) { h.hot = hottest(op.Idx, op.Minors, hotBytes/(stride*int(mem.Size[V]()))) })
	if err != nil || h.hot == nil && !reachesOver(x, stride) {
		return nil, err
	}
	room := &form.Memory{Alloc: func(bytes int64) ([]byte, error) {
		b, err := p.dev.Alloc(bytes)
		if err != nil {
			return nil, err
		}
		h.mem = append(h.mem, b)
		return p.dev.View(b)
	}}
	if h.x.Val, err = form.Make[V](room, int64(op.Minors)*int64(stride)); err == nil && h.hot != nil {
		err = h.renumber(p, op, room)
	}
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return nil, h.free()
	}
	if err != nil {
		return nil, errors.Join(err, h.free())
	}
	return h, nil
}

// renumber makes the rows with the new numbers of columns.
func (h *orderedColumns[V]) renumber(p *packed[V], op *kernels.Packing[V], room *form.Memory) error {
	nnz, n := p.part.NNZ(), len(p.pieces)
	idx, err := form.Make[int32](room, nnz)
	if err != nil {
		return err
	}
	to := newNumbers(h.hot, op.Minors)
	err = p.dev.pool.run(n, func(i int) {
		for k := par.Cut(nnz, n, i); k < par.Cut(nnz, n, i+1); k++ {
			idx[k] = to[op.Idx[k]]
		}
	})
	if err != nil {
		return err
	}
	h.rows = newManyRows(p.part, p.parts(), op.Ptr, idx, op.Val, op.Minors)
	return nil
}

// free lets go of the memory.
func (h *orderedColumns[V]) free() error {
	var errs []error
	for _, b := range h.mem {
		errs = append(errs, b.Free())
	}
	return errors.Join(errs...)
}

// lineStride is the stride of rows of x of which each begins at a cache line, or at the
// half of one where they fit: kernels load no less, also of shorter rows.
func lineStride[V sparse.Value](cols int) int {
	line := int(cacheLine / mem.Size[V]())
	if cols <= line/2 {
		return line / 2
	}
	return (cols + line - 1) / line * line
}

// reachesOver reports whether rows of at most a cache line reach over the end of one, and
// would not at a stride.
func reachesOver[V sparse.Value](x simd.Block[V], stride int) bool {
	size := int(mem.Size[V]())
	bytes := stride * size
	return bytes <= cacheLine && (x.Stride*size%bytes != 0 || uintptr(unsafe.Pointer(unsafe.SliceData(x.Val)))%uintptr(bytes) != 0)
}

// cacheLine is the bytes that a cache loads at a time.
const cacheLine = 64

// hottest is the most columns, at most n, with the most entries of a sample, in order;
// nil where they have less than hotShare of them.
func hottest(idx []int32, cols, n int) (hot []int32) {
	counts := make([]uint16, cols)
	step := max(1, len(idx)/hotSample)
	for k := 0; k < len(idx); k += step {
		if c := &counts[idx[k]]; *c < 1<<16-1 {
			*c++
		}
	}
	columns := make([]int, 1<<16) // that have so many entries
	for _, c := range counts {
		columns[c]++
	}
	least, held := 1<<16, 0
	all := (len(idx) + step - 1) / step
	for least > 1 && columns[least-1] <= n {
		least--
		n -= columns[least]
		held += least * columns[least]
	}
	if float64(held) < hotShare*float64(all) {
		return nil
	}
	for c, count := range counts {
		if int(count) >= least {
			hot = append(hot, int32(c))
		}
	}
	return hot
}

// newNumbers is the new number of every column.
func newNumbers(hot []int32, cols int) []int32 {
	to := make([]int32, cols)
	next, cold := 0, int32(len(hot))
	for c := range to {
		if next < len(hot) && int(hot[next]) == c {
			to[c] = int32(next)
			next++
			continue
		}
		to[c] = cold
		cold++
	}
	return to
}

// order is x in the new order, copied.
func (h *orderedColumns[V]) order(d *Device, x simd.Block[V]) (simd.Block[V], error) {
	n, rows := len(h.rows.pieces), int64(x.Rows())
	return h.x, d.pool.run(n, func(i int) {
		lo, hi := int(par.Cut(rows, n, i)), int(par.Cut(rows, n, i+1))
		next, _ := slices.BinarySearch(h.hot, int32(lo))
		for lo < hi {
			end := hi // of the others up to the next hot one
			if next < len(h.hot) {
				end = min(hi, int(h.hot[next]))
			}
			copyRows(h.x.From(len(h.hot)+lo-next), x.From(lo), end-lo)
			if lo = end; lo < hi {
				copyRows(h.x.From(next), x.From(lo), 1)
				next++
				lo++
			}
		}
	})
}

// copyRows copies the first n rows of a block.
func copyRows[V sparse.Value](to, from simd.Block[V], n int) {
	if from.Stride == from.Cols && to.Stride == from.Cols {
		copy(to.Val[:n*to.Stride], from.Val)
		return
	}
	for i := range n {
		copy(to.Val[i*to.Stride:][:to.Cols], from.Val[i*from.Stride:])
	}
}
