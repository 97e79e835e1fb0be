package form

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// sliceBuilder makes a slicesForm: it plans all windows, makes room, and goes over
// them again to fill it, which is cheaper than to keep the plans.
type sliceBuilder[V sparse.Value] struct {
	*slicePlanner[V]
	out              *slicesForm[V]
	values           ValueSet[V]
	narrowAt, wideAt simd.Position // where the next slices go

	// The entries of the window that is filled, row by row: first the narrow ones of a
	// row and then the others, and where each row begins; and room for such entries.
	idx      []int32
	val      []V
	from     []int64
	splitIdx []int32
	splitVal []V
}

func newSliceBuilder[V sparse.Value](r Rows[V], o SliceOptions[V]) *sliceBuilder[V] {
	r, long := r.chunked()
	p := newSlicePlanner(r, o)
	rows := len(r.Ptr) - 1
	return &sliceBuilder[V]{
		slicePlanner: p, values: o.Values.not57(),
		out: &slicesForm[V]{
			level: o.Level, rows: rows, cols: r.Cols,
			sorted: p.sorted, size: p.size,
			sums: make([]V, p.size), more: make([]V, p.size), row: make([]V, p.size),
			fixed: r.Fixed, results: results[V]{level: o.Level, long: long},
		},
	}
}

// measure plans all windows and makes room for their slices.
func (b *sliceBuilder[V]) measure() error {
	var narrow, wide simd.Position
	s := b.out
	s.windows = make([]window, b.windows())
	listed, reach := 0, int32(-1)
	for i := range s.windows {
		if err := b.plan(i); err != nil {
			return err
		}
		w := b.window
		w.base = max(w.base, 0)
		if from := max(reach+1, b.low); i > 0 && b.worthAhead(from) {
			s.windows[i-1].aheadFrom, s.windows[i-1].aheadTo = from, b.high+1
		}
		reach = max(reach, b.high)
		s.windows[i] = w
		narrow, wide = w.narrow.after(narrow), w.wide.after(wide)
		listed += int(w.listed)
		if w.sorted {
			listed += b.end - b.first
		}
		b.cutLong()
	}
	for i := range s.long {
		if p := &s.long[i]; p.wide {
			wide = p.group(b.lanes).after(wide)
		} else {
			narrow = p.group(b.lanes).after(narrow)
		}
	}
	s.order = make([]uint16, 0, listed)
	return b.makeRoom(narrow, wide)
}

// The most entries of a piece, and the fewest that are worth one that is narrow.
const (
	longestPiece  = 1 << 15
	shortestPiece = 1 << 8
)

// cutLong cuts the long rows of the window that was planned last into pieces. Where
// sums have a fixed shape they stay whole.
func (b *sliceBuilder[V]) cutLong() {
	for r := range b.narrowRows.of {
		if !b.isLong(r) {
			continue
		}
		if b.r.Fixed {
			b.out.lone.row = append(b.out.lone.row, b.first+r)
			continue
		}
		k, end := b.at(b.first+r), b.at(b.first+r+1)
		for k < end {
			p := piece{row: b.first + r, from: k}
			lo, hi := b.r.Idx[k], b.r.Idx[k]
			most := min(end, k+longestPiece)
			for p.to = k + 1; p.to < most; p.to++ {
				a, c := min(lo, b.r.Idx[p.to]), max(hi, b.r.Idx[p.to])
				if c-a >= narrowSpan {
					break
				}
				lo, hi = a, c
			}
			if p.to < most && p.to-k < shortestPiece {
				p.to, p.wide = most, true
				lo, hi = simd.MinMax(b.level, b.r.Idx[k:most])
			}
			p.base, p.greatest = lo, hi
			b.out.long = append(b.out.long, p)
			k = p.to
		}
	}
}

// makeRoom makes arrays that end at the given positions.
func (b *sliceBuilder[V]) makeRoom(narrow, wide simd.Position) (err error) {
	s, m := b.out, b.r.Mem
	if s.narrow, err = newSlices(m, &b.values, b.lanes, narrow); err != nil {
		return err
	}
	if s.wide, err = newSlices(m, &b.values, b.lanes, wide); err != nil {
		return err
	}
	s.narrow.Fused, s.wide.Fused = s.fixed, s.fixed
	if s.narrow.Narrow, err = Make[uint16](m, int64(narrow.Column*b.lanes)); err != nil {
		return err
	}
	if s.wide.Wide, err = Make[int32](m, int64(wide.Column*b.lanes)); err != nil {
		return err
	}
	if err := s.lone.makeRoom(b.r); err != nil {
		return err
	}
	s.padding = int64((narrow.Column+wide.Column)*b.lanes) - (b.at(s.rows) - s.lone.entries())
	s.bytes = sliceBytes(&s.narrow) + sliceBytes(&s.wide) + s.lone.bytes() + 2*int64(cap(s.order)) +
		windowBytes*int64(len(s.windows)+cap(s.long)) + 3*mem.Size[V]()*int64(len(s.sums))
	// With vectors of this size little of y would be in a cache for the next product.
	s.results.stream = beyond(s.bytes + mem.Size[V]()*int64(s.rows+min(s.rows, s.cols)))
	return nil
}

// windowBytes is about the size of a window or a piece.
const windowBytes = 56

func newSlices[V sparse.Value](m *Memory, values *ValueSet[V], lanes int, end simd.Position) (s simd.Slices[V], err error) {
	if s.Values, err = values.store(m, lanes, int64(end.Column)); err != nil {
		return s, err
	}
	if s.Widths, err = Make[uint32](m, 2*int64(end.Slice)); err != nil {
		return s, err
	}
	s.Masks, err = Make[uint16](m, int64(end.Mask))
	return s, err
}

func sliceBytes[V sparse.Value](s *simd.Slices[V]) int64 {
	return 4*int64(len(s.Widths)) + 2*int64(len(s.Masks)) + 2*int64(len(s.Narrow)) + 4*int64(len(s.Wide)) + valueBytes(&s.Values)
}

// fill stores all entries.
func (b *sliceBuilder[V]) fill() error {
	s := b.out
	for i := range s.windows {
		b.reopen(i)
		w := &b.window
		if w.sorted {
			s.order = append(s.order, b.narrowRows.order...)
		}
		s.order = append(s.order, b.wideRows.order[:w.listed]...)
		b.fillGroup(&s.narrow, &b.narrowAt, &b.narrowRows, w.narrow, nil)
		b.fillGroup(&s.wide, &b.wideAt, &b.wideRows, w.wide, b.narrowRows.of)
	}
	for i := range s.long {
		b.fillPiece(&s.long[i])
	}
	s.lone.fill(b.r)
	return nil
}

// reopen sets the rows of window i as they were planned.
func (b *sliceBuilder[V]) reopen(i int) {
	b.open(i)
	w := b.out.windows[i]
	b.window = w
	switch {
	case w.wide.columns == 0:
		clear(b.wideRows.of)
		b.keepEntries()
	case w.narrow.columns == 0:
		copy(b.wideRows.of, b.narrowRows.of)
		clear(b.narrowRows.of)
		b.keepEntries()
	default:
		b.splitEntries()
	}
	if w.wide.columns > 0 {
		b.wideRows.sort()
	}
	if w.sorted {
		b.narrowRows.sort()
	} else {
		b.narrowRows.keep()
	}
}

// keepEntries leaves the entries of the window where they are.
func (b *sliceBuilder[V]) keepEntries() {
	lo, hi := b.at(b.first), b.at(b.end)
	b.idx, b.val = b.r.Idx[lo:hi], b.r.Val[lo:hi]
	b.from = b.from[:0]
	for _, p := range b.r.Ptr[b.first:b.end] {
		b.from = append(b.from, p-b.r.Ptr[b.first])
	}
}

// splitEntries brings the narrow entries of each row of the window before the others,
// and counts both.
func (b *sliceBuilder[V]) splitEntries() {
	n := int(b.at(b.end) - b.at(b.first))
	b.splitIdx, b.splitVal = slices.Grow(b.splitIdx[:0], n)[:n], slices.Grow(b.splitVal[:0], n)[:n]
	b.idx, b.val, b.from = b.splitIdx, b.splitVal, b.from[:0]
	start := int64(0)
	for r, n := range b.narrowRows.of {
		b.from = append(b.from, start)
		b.wideRows.of[r] = 0
		if n == 0 {
			continue
		}
		k := b.at(b.first + r)
		from := b.r.Idx[k : k+int64(n)]
		narrow := int32(0)
		for _, c := range from {
			narrow += oneIfNarrow(b.base, c)
		}
		b.narrowRows.of[r], b.wideRows.of[r] = narrow, n-narrow
		b.splitRow(from, b.r.Val[k:k+int64(n)], b.idx[start:start+int64(n)], b.val[start:start+int64(n)], int(narrow))
		start += int64(n)
	}
}

// splitRow copies entries, narrow ones to the front and the others to place wide and
// those behind.
func (b *sliceBuilder[V]) splitRow(fromIdx []int32, fromVal []V, idx []int32, val []V, wide int) {
	fromVal, val = fromVal[:len(fromIdx)], val[:len(idx)]
	narrow := 0
	for k, c := range fromIdx {
		one := int(oneIfNarrow(b.base, c))
		at := wide + one*(narrow-wide)
		idx[at], val[at] = c, fromVal[k]
		narrow += one
		wide += 1 - one
	}
}

// fillGroup stores the slices of one kind of the window that is open: for each row
// the entries behind the first skip[row], or from its first where skip is nil.
func (b *sliceBuilder[V]) fillGroup(to *simd.Slices[V], at *simd.Position, rows *lengths, g group, skip []int32) {
	for i := range int(g.slices) {
		order := rows.order[i*b.lanes : min((i+1)*b.lanes, len(rows.order))]
		full, masked := rows.widths(i*b.lanes, b.lanes)
		to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(full), uint32(masked)
		masks := to.Masks[at.Mask : at.Mask+int(masked)]
		first := at.Column * b.lanes
		var idx [4][]int32
		var val [4][]V
		for lane, r := range order {
			lo := b.from[r]
			if skip != nil {
				lo += int64(skip[r])
			}
			n := rows.of[r]
			j := lane % 4
			idx[j], val[j] = b.idx[lo:lo+int64(full)], b.val[lo:lo+int64(full)]
			if j == 3 && full > 0 {
				b.put4(to, first+lane-3, &idx, &val)
			}
			if n > full {
				mid := lo + int64(full)
				b.put(to, first+int(full)*b.lanes+lane, b.base, b.idx[mid:lo+int64(n)], b.val[mid:lo+int64(n)])
				for j := range masks[:n-full] {
					masks[j] |= 1 << lane
				}
			}
		}
		*at = group{1, full + masked, masked}.after(*at)
	}
}

// put4 stores rows of equally many entries in four lanes side by side, from place k
// of the first of them on.
func (b *sliceBuilder[V]) put4(to *simd.Slices[V], k int, idx *[4][]int32, val *[4][]V) {
	b.values.put4(&to.Values, k, b.lanes, val)
	if to.Narrow == nil {
		weave(to.Wide[k:], b.lanes, idx)
		return
	}
	n, base := len(idx[0]), b.base
	i0, i1, i2, i3 := idx[0], idx[1][:n], idx[2][:n], idx[3][:n]
	out := to.Narrow[k:]
	for j := range i0 {
		o := (*[4]uint16)(out[j*b.lanes:])
		o[0], o[1], o[2], o[3] = uint16(i0[j]-base), uint16(i1[j]-base), uint16(i2[j]-base), uint16(i3[j]-base)
	}
}

// put stores entries in one lane of successive columns, from place k on.
func (b *sliceBuilder[V]) put(to *simd.Slices[V], k int, base int32, idx []int32, val []V) {
	b.values.put(&to.Values, k, b.lanes, val)
	if to.Narrow != nil {
		for _, c := range idx {
			to.Narrow[k] = uint16(c - base)
			k += b.lanes
		}
		return
	}
	for _, c := range idx {
		to.Wide[k] = c
		k += b.lanes
	}
}

// fillPiece stores a piece of a long row.
func (b *sliceBuilder[V]) fillPiece(p *piece) {
	to, at := &b.out.narrow, &b.narrowAt
	if p.wide {
		to, at = &b.out.wide, &b.wideAt
	}
	g := p.group(b.lanes)
	to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(g.columns-g.masks), uint32(g.masks)
	longer := int((p.to - p.from) % int64(b.lanes)) // lanes with one entry more
	if g.masks > 0 {
		to.Masks[at.Mask] = 1<<longer - 1
	}
	k := p.from
	for lane := range b.lanes {
		n := int64(g.columns - g.masks)
		if lane < longer {
			n++
		}
		b.put(to, at.Column*b.lanes+lane, p.base, b.r.Idx[k:k+n], b.r.Val[k:k+n])
		k += n
	}
	*at = g.after(*at)
}
