package form

import (
	"slices"
	"sync"
)

// Lengths has the number of entries of each row of a window that are in one kind of slices, or the
// number of blocks of each block row.
type Lengths struct {
	Counts     []int32
	Order      []uint16   // the row of each lane; rows without entries last
	Decreasing bool       // order is by decreasing length
	scratch    [][4]int32 // scratch of sortFrom
	old        []uint16   // scratch of byStrips
}

// Equal reports whether all rows have the same number of entries.
func (l *Lengths) Equal() bool {
	for _, n := range l.Counts {
		if n != l.Counts[0] {
			return false
		}
	}
	return true
}

// KeepOrder leaves the rows in their order.
func (l *Lengths) KeepOrder() {
	for i := range l.Order {
		l.Order[i] = uint16(i)
	}
	l.Decreasing = false
}

// Sort orders the rows by decreasing length; rows of equal length stay in their order.
func (l *Lengths) Sort() { l.SortFrom(SuccessiveRows()[:len(l.Counts)]) }

// SortFrom orders the rows by decreasing length; rows of equal length are in the order of first.
func (l *Lengths) SortFrom(first []uint16) {
	l.Decreasing = true
	of, order := l.Counts, l.Order
	longest := int32(0)
	for _, n := range of {
		longest = max(longest, n)
	}
	if int(longest) > 8*len(of)+1024 {
		copy(order, first)
		slices.SortStableFunc(order, func(a, b uint16) int { return int(of[b]) - int(of[a]) })
		return
	}
	// Counting sort in four quarters, which do not wait for each other's counts.
	l.scratch = append(l.scratch[:0], make([][4]int32, longest+1)...)
	count, n := l.scratch, len(first)/4
	a, b, c, d := first[:n], first[n:2*n], first[2*n:3*n], first[3*n:]
	for i, r := range a {
		count[of[r]][0]++
		count[of[b[i]]][1]++
		count[of[c[i]]][2]++
		count[of[d[i]]][3]++
	}
	for _, r := range d[n:] {
		count[of[r]][3]++
	}
	at := int32(0) // the next position
	for i := longest; i >= 0; i-- {
		for q, n := range &count[i] {
			count[i][q] = at
			at += n
		}
	}
	put := func(q int, r uint16) {
		at := &count[of[r]][q]
		order[*at] = r
		*at++
	}
	for i, r := range a {
		put(0, r)
		put(1, b[i])
		put(2, c[i])
		put(3, d[i])
	}
	for _, r := range d[n:] {
		put(3, r)
	}
}

// Group returns the slices of the rows in their order, and the number of rows in them. Slices at
// the end without entries are left out.
func (l *Lengths) Group(lanes int) (g Group, rows int32) {
	for i := 0; i < len(l.Order); i += lanes {
		full, masked := l.Widths(i, lanes)
		g.Columns += full + masked
		g.Masks += masked
		if full+masked > 0 {
			g.Slices = int32(i/lanes) + 1
			rows = int32(min(i+lanes, len(l.Order)))
		}
	}
	return g, rows
}

// Widths returns, for the slice that begins with order[i], the number of columns in which all lanes
// have an entry and the number of columns in which only some have.
func (l *Lengths) Widths(i, lanes int) (full, masked int32) {
	order := l.Order[i:min(i+lanes, len(l.Order))]
	longest, shortest := l.Counts[order[0]], l.Counts[order[len(order)-1]]
	if !l.Decreasing {
		for _, r := range order {
			shortest, longest = min(shortest, l.Counts[r]), max(longest, l.Counts[r])
		}
	}
	if len(order) < lanes {
		shortest = 0
	}
	return shortest, longest - shortest
}

// ByStrips reorders slices of sorted rows by strip, which is the strip rows around the middle row
// of the slice. Within a strip lengths decrease. Slices without entries, and the last slice if it
// has empty lanes, stay at the end.
func (l *Lengths) ByStrips(lanes, strip int) {
	whole := len(l.Order) / lanes * lanes
	for whole > 0 && l.Counts[l.Order[whole-lanes]] == 0 {
		whole -= lanes
	}
	l.old = append(l.old[:0], l.Order[:whole]...)
	order := l.old
	at := make([]int, len(l.Order)/strip+2) // the position of the next slice of each strip
	of := func(i int) int { return int(order[i+lanes/2]) / strip }
	for i := 0; i < whole; i += lanes {
		at[of(i)+1] += lanes
	}
	for s := range len(at) - 1 {
		at[s+1] += at[s]
	}
	for i := 0; i < whole; i += lanes {
		to := &at[of(i)]
		copy(l.Order[*to:], order[i:i+lanes])
		*to += lanes
	}
}

// Group is the size of successive slices.
type Group struct{ Slices, Columns, Masks int32 }

// After returns the position after slices of this size that begin at a position.
func (g Group) After(at Position) Position {
	return Position{Slice: at.Slice + int(g.Slices), Column: at.Column + int(g.Columns), Mask: at.Mask + int(g.Masks)}
}

// SuccessiveRows is the order of a window that is not sorted.
var SuccessiveRows = sync.OnceValue(func() []uint16 {
	order := make([]uint16, NarrowSpan)
	for i := range order {
		order[i] = uint16(i)
	}
	return order
})

// Widest returns the length of the longest of the rows first <= i < end.
func Widest(ptr []int64, first, end int) (w int64) {
	for i := first; i < end; i++ {
		w = max(w, ptr[i+1]-ptr[i])
	}
	return w
}

// NarrowSpan is the number of columns that 16-bit indices address.
const NarrowSpan = 1 << 16

// Position is a position in Slices.
type Position struct{ Slice, Column, Mask int }
