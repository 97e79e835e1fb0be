package slices

import (
	"cmp"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// sliceBuilder builds a slicesForm: it plans all windows, allocates, and plans again while it
// fills, which is cheaper than storing all plans.
type sliceBuilder[V sparse.Value] struct {
	*slicePlanner[V]
	sliceFiller[V]   // for the current window
	out              *slicesForm[V]
	narrowAt, wideAt form.Position // positions of the next slices
	orders           []uint16      // the part of out.rowOf for the next windows

	separated splitWindow[V]
}

func newSliceBuilder[V sparse.Value](r form.Rows[V], o SliceOptions[V]) *sliceBuilder[V] {
	r, long := r.Chunked()
	p := newSlicePlanner(r, o)
	rows := len(r.Ptr) - 1
	return &sliceBuilder[V]{
		slicePlanner: p, sliceFiller: sliceFiller[V]{values: o.Values.Not57()},
		out: &slicesForm[V]{
			level: o.Level, rows: rows, cols: r.Cols,
			sorted: p.sorted, size: p.size,
			sums: make([]V, p.size), wideSums: make([]V, p.size), rowSums: make([]V, p.size),
			fixed: r.Fixed, results: form.Results[V]{Level: o.Level, Long: long},
		},
	}
}

// measure plans all windows and allocates their slices.
func (b *sliceBuilder[V]) measure() error {
	var narrow, wide form.Position
	s := b.out
	s.windows = make([]window, b.windows())
	b.chooseStrip()
	s.strip = b.strip
	reach := int32(-1)
	reached := make([]int32, len(s.windows))
	var rowOf []uint16
	for i := range s.windows {
		if err := b.plan(i); err != nil {
			return err
		}
		w := b.window
		w.base, w.storeDirect = max(w.base, 0), b.storesDirectly()
		if from := max(reach+1, b.low); i > 0 && b.worthPrefetching(from) {
			s.windows[i-1].prefetchFrom, s.windows[i-1].prefetchTo = from, b.high+1
		}
		reach = max(reach, b.high)
		reached[i] = reach
		s.windows[i] = w
		narrow, wide = w.narrow.After(narrow), w.wide.After(wide)
		if w.sorted {
			if rowOf == nil {
				rowOf = make([]uint16, 0, s.rows)
			}
			rowOf = append(rowOf, b.narrowRows.Order...)
		}
		rowOf = append(rowOf, b.wideRows.Order[:w.listed]...)
		b.cutLong()
	}
	s.long.place(reached)
	for i := range s.long.pieces {
		if p := &s.long.pieces[i]; p.wide {
			wide = p.group(b.lanes).After(wide)
		} else {
			narrow = p.group(b.lanes).After(narrow)
		}
	}
	n := int64(len(rowOf))
	if err := cmp.Or(form.Alloc(b.r.Mem, &s.order, n), form.Alloc(b.r.Mem, &s.rowOf, n)); err != nil {
		return err
	}
	copy(s.rowOf, rowOf)
	return b.makeRoom(narrow, wide)
}

// makeRoom allocates arrays that end at the given positions.
func (b *sliceBuilder[V]) makeRoom(narrow, wide form.Position) (err error) {
	s, m := b.out, b.r.Mem
	if s.narrow, err = newSlices(m, &b.values, b.lanes, narrow); err != nil {
		return err
	}
	if s.wide, err = newSlices(m, &b.values, b.lanes, wide); err != nil {
		return err
	}
	s.narrow.Fused, s.wide.Fused = s.fixed, s.fixed
	if !s.fixed { // otherwise entries stay in their order
		s.narrow.Regular, s.wide.Regular = make([]uint16, 2*narrow.Slice), make([]uint16, 2*wide.Slice)
	}
	if err := cmp.Or(
		form.Alloc(m, &s.narrow.Narrow, int64(narrow.Column*b.lanes)),
		form.Alloc(m, &s.wide.Wide, int64(wide.Column*b.lanes)),
	); err != nil {
		return err
	}
	s.EmptySlots = int64((narrow.Column+wide.Column)*b.lanes) - b.r.At(s.rows)
	s.MemoryBytes = sliceBytes(&s.narrow) + sliceBytes(&s.wide) + 4*int64(len(s.order)) +
		windowBytes*int64(len(s.windows)) + longPieceBytes*int64(cap(s.long.pieces)) + 3*mem.Size[V]()*int64(len(s.sums))
	near := form.Near(s.MemoryBytes)
	s.narrow.Near, s.wide.Near = near, near
	// With vectors of this size, the next product would find little of y in the caches.
	s.results.Stream = form.Beyond(s.MemoryBytes + mem.Size[V]()*int64(s.rows+min(s.rows, s.cols)))
	return nil
}

// About the sizes of a window and of a piece of a long row.
const (
	windowBytes    = 56
	longPieceBytes = 72
)

func newSlices[V sparse.Value](m *form.Memory, values *form.ValueSet[V], lanes int, end form.Position) (s Slices[V], err error) {
	if s.Values, err = values.Store(m, lanes, int64(end.Column)); err != nil {
		return s, err
	}
	err = cmp.Or(form.Alloc(m, &s.Widths, 2*int64(end.Slice)), form.Alloc(m, &s.Masks, int64(end.Mask)))
	return s, err
}

func sliceBytes[V sparse.Value](s *Slices[V]) int64 {
	return 4*int64(len(s.Widths)) + 2*int64(len(s.Masks)) + 2*int64(len(s.Narrow)) + 4*int64(len(s.Wide)) + form.ValueBytes(&s.Values)
}

// fill stores all entries.
func (b *sliceBuilder[V]) fill() error {
	s := b.out
	long := s.long.pieces
	b.orders = s.rowOf
	copy(s.order, s.rowOf)
	for i := range s.windows {
		lanes := s.order[len(s.rowOf)-len(b.orders):]
		sorted := b.reopen(i)
		w := &b.window
		b.fillGroup(&s.narrow, &b.narrowAt, b.base, &b.narrowRows, w.narrow)
		if w.narrow.Columns > 0 && w.wide.Columns > 0 {
			b.idx, b.val, b.from = b.separated.wideIdx, b.separated.wideVal, b.separated.wideFrom // origin is 0 already
		}
		b.fillGroup(&s.wide, &b.wideAt, b.base, &b.wideRows, w.wide)
		for ; len(long) > 0 && long[0].after == i; long = long[1:] {
			b.fillPiece(&long[0])
		}
		invert(sorted, lanes)
	}
	s.narrow.Regular = keepRegular(s.narrow.Regular)
	s.wide.Regular = keepRegular(s.wide.Regular)
	s.MemoryBytes += 2 * int64(len(s.narrow.Regular)+len(s.wide.Regular))
	return nil
}

// invert sets to[order[i]] = i.
func invert(order, to []uint16) {
	to = to[:len(order)]
	for i, r := range order {
		to[r] = uint16(i)
	}
}
