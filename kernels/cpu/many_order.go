package cpu

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/csr"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/rows"
	"github.com/msrep-go/msrep/sparse"
)

// hotBytes is the size of the rows of x that belong to the hot columns. The last cache holds that much beside the
// data that streams through it, and address translation in small pages covers it. Tests replace it.
var hotBytes = 8 << 20

const (
	// hotSample is the number of entries that are looked at to find the hot columns.
	hotSample = 8 << 20
	// hotShare is the least fraction of the entries in hot columns for which a trial pays.
	hotShare = 0.5
)

// orderedColumns is the rows of a part with renumbered columns: those with the most entries come first, and columns
// without entries are left out. Each product copies x in that order, with rows that do not cross the end of a cache
// line. In a power-law matrix most entries lie in hot columns, which are scattered over all of x. In the new order
// these lie in fewer pages, and the caches keep them. Without hot columns the copy alone may pay.
//
// The entries of a row keep the caller's order, so that results are equal to the last bit.
type orderedColumns[V sparse.Value] struct {
	rows   *rows.Many[V]
	order  []int32 // the column in each place; nil if all columns keep their places
	places int
	lines  linesOfX[V] // memory for x in the new order
	mem    []kernels.Buffer
}

// orderColumns orders the columns of a part for products with multi-vectors like x. It returns nil if that is not
// likely to help or memory is short.
func orderColumns[V sparse.Value](p *packed[V], op *kernels.Packing[V], x form.MultiVector[V]) (*orderedColumns[V], error) {
	stride, nnz := rows.LineStride[V](x.Cols), p.part.NNZ()
	if _, ok := mem.Fits(2 * (int64(op.Minors)*(int64(stride)*mem.Size[V]()+4) + 4*nnz)); !ok {
		return nil, nil
	}
	h := &orderedColumns[V]{rows: p.rows, places: op.Minors}
	var err error
	h.order, err = p.hottestColumns(op, stride)
	if err != nil || h.order == nil && !reachesOver(x, stride) {
		return nil, err
	}
	if h.order == nil {
		return h, nil
	}
	if err := h.dropEmpty(p, op); err != nil {
		return nil, err
	}
	h.places = len(h.order)
	room := &form.Memory{Alloc: func(bytes int64) ([]byte, error) {
		b, err := p.dev.Alloc(bytes)
		if err != nil {
			return nil, err
		}
		h.mem = append(h.mem, b)
		return p.dev.View(b)
	}}
	err = h.renumber(p, op, room)
	if errors.Is(err, kernels.ErrOutOfMemory) {
		return nil, h.free()
	}
	if err != nil {
		return nil, errors.Join(err, h.free())
	}
	return h, nil
}

// dropEmpty removes columns without entries from the order.
func (h *orderedColumns[V]) dropEmpty(p *packed[V], op *kernels.Packing[V]) error {
	used := make([]uint32, op.Minors/32+1) // a bit for each column
	nnz, n := p.part.NNZ(), len(p.pieces)
	err := p.dev.Pool.Run(n, func(i int) {
		for _, c := range op.Idx[par.Cut(nnz, n, i):par.Cut(nnz, n, i+1)] {
			if w, bit := &used[c/32], uint32(1)<<(c%32); atomic.LoadUint32(w)&bit == 0 {
				atomic.OrUint32(w, bit)
			}
		}
	})
	h.order = slices.DeleteFunc(h.order, func(c int32) bool { return used[c/32]>>(c%32)&1 == 0 })
	return err
}

// renumber makes the rows with the new column numbers.
func (h *orderedColumns[V]) renumber(p *packed[V], op *kernels.Packing[V], room *form.Memory) error {
	nnz, n := p.part.NNZ(), len(p.pieces)
	idx, err := form.Make[int32](room, nnz)
	if err != nil {
		return err
	}
	to := make([]int32, op.Minors) // the place of each column
	for i, c := range h.order {
		to[c] = int32(i)
	}
	err = p.dev.Pool.Run(n, func(i int) {
		for k := par.Cut(nnz, n, i); k < par.Cut(nnz, n, i+1); k++ {
			idx[k] = to[op.Idx[k]]
		}
	})
	if err != nil {
		return err
	}
	h.rows = rows.NewMany(rows.NewCompressed(p.part, op.Ptr, idx, op.Val), p.parts(), len(h.order))
	return nil
}

// free releases the memory.
func (h *orderedColumns[V]) free() error {
	errs := []error{h.lines.free()}
	for _, b := range h.mem {
		errs = append(errs, b.Free())
	}
	return errors.Join(errs...)
}

// hottestColumns is hottestFirst for as many columns as fit hotBytes with rows at the given stride.
func (p *packed[V]) hottestColumns(op *kernels.Packing[V], stride int) (order []int32, err error) {
	err = p.dev.Pool.Run(1, func(int) { order = hottestFirst(op.Idx, op.Minors, hotBytes/(stride*int(mem.Size[V]()))) })
	return order, err
}

// reachesOver reports whether rows of at most a cache line cross the end of one now and would not at the given
// stride.
func reachesOver[V sparse.Value](x form.MultiVector[V], stride int) bool {
	size := int(mem.Size[V]())
	bytes := stride * size
	return bytes <= form.CacheLine && (x.Stride*size%bytes != 0 || uintptr(unsafe.Pointer(unsafe.SliceData(x.Val)))%uintptr(bytes) != 0)
}

// hottestFirst returns the columns in an order in which those with more entries of a sample come before those with
// half as many, and otherwise in their own order. It returns nil if the first n columns have less than hotShare of
// the entries.
func hottestFirst(idx []int32, cols, n int) []int32 {
	counts := make([]uint16, cols)
	step := max(1, len(idx)/hotSample)
	for k := 0; k < len(idx); k += step {
		if c := &counts[idx[k]]; *c < math.MaxUint16 {
			*c++
		}
	}
	var next [17]int // the place of the next column whose count has that many bits
	for _, count := range counts {
		next[bits.Len16(count)]++
	}
	for b, end := 0, cols; b < len(next); b++ {
		end -= next[b]
		next[b] = end
	}
	order := make([]int32, cols)
	for c, count := range counts {
		to := &next[bits.Len16(count)]
		order[*to] = int32(c)
		*to++
	}
	held := 0
	for _, c := range order[:min(n, cols)] {
		held += int(counts[c])
	}
	if all := (len(idx) + step - 1) / step; float64(held) < hotShare*float64(all) {
		return nil
	}
	return order
}

// copyOrdered returns a copy of x in the new order.
func (h *orderedColumns[V]) copyOrdered(d *memory.Memory, x form.MultiVector[V]) (to form.MultiVector[V], err error) {
	to = form.MultiVector[V]{Cols: x.Cols, Stride: rows.LineStride[V](x.Cols)}
	if to.Val, err = h.lines.room(d, int64(h.places)*int64(to.Stride)); err != nil {
		return to, err
	}
	n := len(h.rows.Pieces)
	return to, d.Pool.Run(n, func(i int) {
		lo, hi := int(par.Cut(int64(h.places), n, i)), int(par.Cut(int64(h.places), n, i+1))
		if h.order == nil {
			form.CopyRows(to.From(lo), x.From(lo), hi-lo)
			return
		}
		csr.PermuteRows(simd.Default(), h.order[lo:hi], x, to.From(lo))
	})
}

// linesOfX is memory for a copy of x in which each row begins at a cache line or in the middle of one. The first
// product that needs the memory takes it; the zero value is empty.
type linesOfX[V sparse.Value] struct {
	val []V
	mem kernels.Buffer // nil while val is empty
}

// room returns memory for n elements, and replaces what there is if it is too small.
func (l *linesOfX[V]) room(d *memory.Memory, n int64) ([]V, error) {
	if n <= int64(len(l.val)) {
		return l.val[:n], nil
	}
	if err := l.free(); err != nil {
		return nil, err
	}
	val, err := form.Make[V](&form.Memory{Alloc: func(bytes int64) (_ []byte, err error) {
		if l.mem, err = d.Alloc(bytes); err != nil {
			return nil, err
		}
		return d.View(l.mem)
	}}, n)
	l.val = val
	return val, err
}

// buffers returns the memory that l holds.
func (l *linesOfX[V]) buffers() []kernels.Buffer {
	if l.mem == nil {
		return nil
	}
	return []kernels.Buffer{l.mem}
}

// free releases the memory.
func (l *linesOfX[V]) free() error {
	if l.mem == nil {
		return nil
	}
	err := l.mem.Free()
	*l = linesOfX[V]{}
	return err
}
