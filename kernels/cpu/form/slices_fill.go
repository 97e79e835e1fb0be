package form

import (
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

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
	b.narrowRows.keep()
	if w.sorted {
		n := b.end - b.first
		for r, lane := range b.orders[:n] {
			b.narrowRows.order[lane] = uint16(r)
		}
		b.orders = b.orders[n:]
	}
	if w.joint {
		copy(b.wideRows.order, b.narrowRows.order)
		return
	}
	b.orders = b.orders[copy(b.wideRows.order, b.orders[:w.listed]):]
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

// splitWindow is room for the narrow entries of a window, row by row, and for the others.
type splitWindow[V sparse.Value] struct {
	idx, wideIdx   []int32
	val, wideVal   []V
	from, wideFrom []int64
}

// splitEntries parts the narrow entries of the window from the others, and counts both. Which
// they are cannot be foreseen, so that to write each to both places is faster than to branch.
func (b *sliceBuilder[V]) splitEntries() {
	s := &b.parted
	n := int(b.at(b.end) - b.at(b.first))
	s.idx, s.val = slices.Grow(s.idx[:0], n)[:n], slices.Grow(s.val[:0], n)[:n]
	s.wideIdx, s.wideVal = slices.Grow(s.wideIdx[:0], n)[:n], slices.Grow(s.wideVal[:0], n)[:n]
	s.from, s.wideFrom = s.from[:0], s.wideFrom[:0]
	narrow, wide := 0, 0
	for r, n := range b.narrowRows.of {
		s.from, s.wideFrom = append(s.from, int64(narrow)), append(s.wideFrom, int64(wide))
		k := b.at(b.first + r)
		idx, val := b.r.Idx[k:k+int64(n)], b.r.Val[k:k+int64(n)] // none of a long row
		before := narrow
		for i, c := range idx {
			v := val[i]
			s.idx[narrow], s.val[narrow] = c, v
			s.wideIdx[wide], s.wideVal[wide] = c, v
			one := int(oneIfNarrow(b.base, c))
			narrow += one
			wide += 1 - one
		}
		b.narrowRows.of[r], b.wideRows.of[r] = int32(narrow-before), n-int32(narrow-before)
	}
	b.idx, b.val, b.from = s.idx, s.val, s.from
}

// sliceFiller stores entries of rows in slices: row r has those from from[r] on.
type sliceFiller[V sparse.Value] struct {
	values ValueSet[V]
	idx    []int32
	val    []V
	from   []int64
	turned turned[V]
}

// fillGroup stores a group of slices, with narrow indices counted from base.
func (b *sliceFiller[V]) fillGroup(to *simd.Slices[V], at *simd.Position, base int32, rows *lengths, g group) {
	lanes := to.Values.Lanes
	for i := range int(g.slices) {
		order := rows.order[i*lanes : min((i+1)*lanes, len(rows.order))]
		full, masked := rows.widths(i*lanes, lanes)
		to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(full), uint32(masked)
		masks := to.Masks[at.Mask : at.Mask+int(masked)]
		first := at.Column * lanes
		straight := false
		if to.Straight != nil && full > 0 {
			straight = b.straighten(order, int(full), &to.Straight[at.Slice])
		}
		var idx [4][]int32
		var val [4][]V
		for lane, r := range order {
			lo := b.from[r]
			n := rows.of[r]
			j := lane % 4
			if straight {
				idx[j], val[j] = b.turned.row(lane, int(full))
			} else {
				idx[j], val[j] = b.idx[lo:lo+int64(full)], b.val[lo:lo+int64(full)]
			}
			if j == 3 && full > 0 {
				b.put4(to, first+lane-3, base, &idx, &val)
			}
			if n > full {
				mid := lo + int64(full)
				b.put(to, first+int(full)*lanes+lane, lanes, base, b.idx[mid:lo+int64(n)], b.val[mid:lo+int64(n)])
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
func (b *sliceFiller[V]) put4(to *simd.Slices[V], k int, base int32, idx *[4][]int32, val *[4][]V) {
	lanes := to.Values.Lanes
	b.values.put4(&to.Values, k, lanes, val)
	if to.Narrow == nil {
		weave(to.Wide[k:], lanes, idx)
		return
	}
	n := len(idx[0])
	i0, i1, i2, i3 := idx[0], idx[1][:n], idx[2][:n], idx[3][:n]
	out := to.Narrow[k:]
	for j := range i0 {
		o := (*[4]uint16)(out[j*lanes:])
		o[0], o[1], o[2], o[3] = uint16(i0[j]-base), uint16(i1[j]-base), uint16(i2[j]-base), uint16(i3[j]-base)
	}
}

// put stores entries at every step-th place, from place k on.
func (b *sliceFiller[V]) put(to *simd.Slices[V], k, step int, base int32, idx []int32, val []V) {
	b.values.put(&to.Values, k, step, val)
	if to.Narrow != nil {
		for _, c := range idx {
			to.Narrow[k] = uint16(c - base)
			k += step
		}
		return
	}
	for _, c := range idx {
		to.Wide[k] = c
		k += step
	}
}
