package form

import (
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// sliceBuilder makes a slicesForm: it plans all windows, makes room, and plans them
// again to fill them, which is cheaper than to keep the plans.
type sliceBuilder[V sparse.Value] struct {
	*slicePlanner[V]
	out              *slicesForm[V]
	values           ValueSet[V]
	narrowAt, wideAt simd.Position // where the next slices go
	idx              []int32       // scratch of entries
	val              []V
}

func newSliceBuilder[V sparse.Value](r Rows[V], o SliceOptions[V]) *sliceBuilder[V] {
	p := newSlicePlanner(r, o)
	rows := len(r.Ptr) - 1
	return &sliceBuilder[V]{
		slicePlanner: p, values: o.Values,
		out: &slicesForm[V]{
			level: o.Level, rows: rows, cols: r.Cols,
			sorted: p.sorted, size: p.size,
			sums: make([]V, p.size), more: make([]V, p.size), row: make([]V, p.size),
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

// cutLong cuts the long rows of the window that was planned last into pieces.
func (b *sliceBuilder[V]) cutLong() {
	for r := range b.narrowRows.of {
		if !b.isLong(r) {
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
			p.base = lo
			if p.to < most && p.to-k < shortestPiece {
				p.to, p.wide = most, true
			}
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
	if s.narrow.Narrow, err = Make[uint16](m, int64(narrow.Column*b.lanes)); err != nil {
		return err
	}
	if s.wide.Wide, err = Make[int32](m, int64(wide.Column*b.lanes)); err != nil {
		return err
	}
	s.padding = int64((narrow.Column+wide.Column)*b.lanes) - b.at(s.rows)
	s.bytes = sliceBytes(&s.narrow) + sliceBytes(&s.wide) + 2*int64(cap(s.order)) +
		windowBytes*int64(len(s.windows)+cap(s.long)) + 3*mem.Size[V]()*int64(len(s.sums))
	// With vectors of this size little of y would be in a cache for the next product.
	s.stream = beyond(s.bytes + mem.Size[V]()*int64(s.rows+min(s.rows, s.cols)))
	return nil
}

// windowBytes is about the size of a window or a piece.
const windowBytes = 48

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
		if err := b.plan(i); err != nil {
			return err
		}
		w := &b.window
		if w.sorted {
			s.order = append(s.order, b.narrowRows.order...)
		}
		s.order = append(s.order, b.wideRows.order[:w.listed]...)
		b.fillGroup(&s.narrow, &b.narrowAt, &b.narrowRows, w.narrow, true)
		b.fillGroup(&s.wide, &b.wideAt, &b.wideRows, w.wide, false)
	}
	for i := range s.long {
		b.fillPiece(&s.long[i])
	}
	return nil
}

// fillGroup stores the slices of one kind of the window that was planned last.
func (b *sliceBuilder[V]) fillGroup(to *simd.Slices[V], at *simd.Position, rows *lengths, g group, narrow bool) {
	for i := range int(g.slices) {
		order := rows.order[i*b.lanes : min((i+1)*b.lanes, len(rows.order))]
		full, masked := rows.widths(i*b.lanes, b.lanes)
		to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(full), uint32(masked)
		masks := to.Masks[at.Mask : at.Mask+int(masked)]
		for lane, r := range order {
			idx, val := b.entries(int(r), rows.of[r], narrow)
			b.put(to, at.Column*b.lanes+lane, b.base, idx, val)
			for j := int(full); j < len(idx); j++ {
				masks[j-int(full)] |= 1 << lane
			}
		}
		*at = group{1, full + masked, masked}.after(*at)
	}
}

// entries is the n narrow or wide entries of row r of the window.
func (b *sliceBuilder[V]) entries(r int, n int32, narrow bool) (idx []int32, val []V) {
	if n == 0 {
		return nil, nil
	}
	k, end := b.at(b.first+r), b.at(b.first+r+1)
	idx, val = b.r.Idx[k:end], b.r.Val[k:end]
	if int(n) == len(idx) {
		return idx, val
	}
	b.idx, b.val = b.idx[:0], b.val[:0]
	for i, c := range idx {
		if isNarrow(b.base, c) == narrow {
			b.idx, b.val = append(b.idx, c), append(b.val, val[i])
		}
	}
	return b.idx, b.val
}

// put stores entries in one lane of successive columns, from place k on.
func (b *sliceBuilder[V]) put(to *simd.Slices[V], k int, base int32, idx []int32, val []V) {
	b.values.put(&to.Values, k, val)
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
