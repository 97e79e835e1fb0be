package slices

import (
	"slices"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// reopen restores the plan of window i. It returns the row of each lane if the window is sorted.
func (b *sliceBuilder[V]) reopen(i int) (sorted []uint16) {
	b.open(i)
	w := b.out.windows[i]
	b.window = w
	switch {
	case w.wide.Columns == 0:
		clear(b.wideRows.Counts)
		b.keepEntries()
	case w.narrow.Columns == 0:
		copy(b.wideRows.Counts, b.narrowRows.Counts)
		clear(b.narrowRows.Counts)
		b.keepEntries()
	default:
		b.splitEntries()
	}
	if w.sorted {
		n := b.end - b.first
		sorted, b.orders = b.orders[:n], b.orders[n:]
		copy(b.narrowRows.Order, sorted)
		b.narrowRows.Decreasing = true
	} else {
		b.narrowRows.KeepOrder()
	}
	b.wideRows.Decreasing = !w.joint
	if w.joint {
		copy(b.wideRows.Order, b.narrowRows.Order)
		return sorted
	}
	b.orders = b.orders[copy(b.wideRows.Order, b.orders[:w.listed]):]
	return sorted
}

// keepEntries makes the entries of the window the source of the filler.
func (b *sliceBuilder[V]) keepEntries() {
	b.idx, b.val, b.from, b.origin = b.r.Idx, b.r.Val, b.r.Ptr[b.first:b.end], b.r.Ptr[0]
}

// splitWindow has the narrow and the wide entries of a window, row by row.
type splitWindow[V sparse.Value] struct {
	idx, wideIdx   []int32
	val, wideVal   []V
	from, wideFrom []int64
}

// splitEntries separates the narrow and the wide entries of the window and counts them per row. It
// writes each entry to both places, which is faster than a branch that is unpredictable.
func (b *sliceBuilder[V]) splitEntries() {
	s := &b.separated
	n := 0 // number of entries, without long rows
	for _, of := range b.narrowRows.Counts {
		n += int(of)
	}
	s.idx, s.val = slices.Grow(s.idx[:0], n)[:n], slices.Grow(s.val[:0], n)[:n]
	s.wideIdx, s.wideVal = slices.Grow(s.wideIdx[:0], n)[:n], slices.Grow(s.wideVal[:0], n)[:n]
	s.from, s.wideFrom = s.from[:0], s.wideFrom[:0]
	narrow, wide := 0, 0
	for r, n := range b.narrowRows.Counts {
		s.from, s.wideFrom = append(s.from, int64(narrow)), append(s.wideFrom, int64(wide))
		k := b.r.At(b.first + r)
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
		b.narrowRows.Counts[r], b.wideRows.Counts[r] = int32(narrow-before), n-int32(narrow-before)
	}
	b.idx, b.val, b.from, b.origin = s.idx, s.val, s.from, 0
}

// sliceFiller stores rows in slices: the entries of row r begin at from[r]-origin.
type sliceFiller[V sparse.Value] struct {
	values    form.ValueSet[V]
	idx       []int32
	val       []V
	from      []int64
	origin    int64
	reordered reordered[V]
}

// start returns the index of the first entry of a row.
func (b *sliceFiller[V]) start(row uint16) int64 { return b.from[row] - b.origin }

// fillGroup stores a group of slices; narrow columns are relative to base.
func (b *sliceFiller[V]) fillGroup(to *Slices[V], at *form.Position, base int32, rows *form.Lengths, g form.Group) {
	lanes := to.Values.Lanes
	for i := range int(g.Slices) {
		order := rows.Order[i*lanes : min((i+1)*lanes, len(rows.Order))]
		full, masked := rows.Widths(i*lanes, lanes)
		to.Widths[2*at.Slice], to.Widths[2*at.Slice+1] = uint32(full), uint32(masked)
		masks := to.Masks[at.Mask : at.Mask+int(masked)]
		first := at.Column * lanes
		moved := to.Regular != nil && full > 0 && b.regularize(order, int(full), to.Regular[2*at.Slice:][:2])
		if full > 0 {
			b.putFull(to, first, base, order, int(full), moved)
		}
		if masked > 0 {
			for lane, r := range order {
				lo, hi := b.start(r)+int64(full), b.start(r)+int64(rows.Counts[r])
				if lo == hi {
					continue
				}
				b.put(to, first+int(full)*lanes+lane, lanes, base, b.idx[lo:hi], b.val[lo:hi])
				for j := range masks[:hi-lo] {
					masks[j] |= 1 << lane
				}
			}
		}
		*at = form.Group{Slices: 1, Columns: full + masked, Masks: masked}.After(*at)
	}
}

// putFull stores the first n entries of the rows, one row per lane, from slot k on, in the order of
// b.reordered if moved is true.
func (b *sliceFiller[V]) putFull(to *Slices[V], k int, base int32, rows []uint16, n int, moved bool) {
	idx, val := b.idx, b.val
	if moved {
		idx, val = b.reordered.idx, b.reordered.val
	}
	var at [4]int64
	for lane := 0; lane < len(rows); lane += 4 {
		for j, r := range (*[4]uint16)(rows[lane:]) {
			at[j] = b.start(r)
			if moved {
				at[j] = int64((lane + j) * n)
			}
		}
		b.values.Put4(&to.Values, k+lane, len(rows), val, &at, n)
		if to.Narrow == nil {
			form.Interleave(to.Wide[k+lane:], len(rows), idx, &at, n)
		} else {
			interleaveNarrow(to.Narrow[k+lane:], len(rows), idx, &at, n, base)
		}
	}
}

// interleaveNarrow is interleave for columns relative to base.
func interleaveNarrow(to []uint16, step int, idx []int32, at *[4]int64, n int, base int32) {
	a, b, c, d := form.Four(idx, at, n)
	for j := range a {
		o := (*[4]uint16)(to[j*step:])
		o[0], o[1], o[2], o[3] = uint16(a[j]-base), uint16(b[j]-base), uint16(c[j]-base), uint16(d[j]-base)
	}
}

// put stores entries in the slots k, k+step, ...
func (b *sliceFiller[V]) put(to *Slices[V], k, step int, base int32, idx []int32, val []V) {
	b.values.Put(&to.Values, k, step, val)
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
