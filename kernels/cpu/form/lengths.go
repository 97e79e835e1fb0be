package form

import "slices"

// lengths has the number of entries of each row of a window that are in one kind of slices, or the
// number of blocks of each block row.
type lengths struct {
	counts     []int32
	order      []uint16   // the row of each lane; rows without entries last
	decreasing bool       // order is by decreasing length
	scratch    [][4]int32 // scratch of sortFrom
	old        []uint16   // scratch of byStrips
}

// equal reports whether all rows have the same number of entries.
func (l *lengths) equal() bool {
	for _, n := range l.counts {
		if n != l.counts[0] {
			return false
		}
	}
	return true
}

// keepOrder leaves the rows in their order.
func (l *lengths) keepOrder() {
	for i := range l.order {
		l.order[i] = uint16(i)
	}
	l.decreasing = false
}

// sort orders the rows by decreasing length; rows of equal length stay in their order.
func (l *lengths) sort() { l.sortFrom(successiveRows()[:len(l.counts)]) }

// sortFrom orders the rows by decreasing length; rows of equal length are in the order of first.
func (l *lengths) sortFrom(first []uint16) {
	l.decreasing = true
	of, order := l.counts, l.order
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

// group returns the slices of the rows in their order, and the number of rows in them. Slices at
// the end without entries are left out.
func (l *lengths) group(lanes int) (g group, rows int32) {
	for i := 0; i < len(l.order); i += lanes {
		full, masked := l.widths(i, lanes)
		g.columns += full + masked
		g.masks += masked
		if full+masked > 0 {
			g.slices = int32(i/lanes) + 1
			rows = int32(min(i+lanes, len(l.order)))
		}
	}
	return g, rows
}

// widths returns, for the slice that begins with order[i], the number of columns in which all lanes
// have an entry and the number of columns in which only some have.
func (l *lengths) widths(i, lanes int) (full, masked int32) {
	order := l.order[i:min(i+lanes, len(l.order))]
	longest, shortest := l.counts[order[0]], l.counts[order[len(order)-1]]
	if !l.decreasing {
		for _, r := range order {
			shortest, longest = min(shortest, l.counts[r]), max(longest, l.counts[r])
		}
	}
	if len(order) < lanes {
		shortest = 0
	}
	return shortest, longest - shortest
}

// byStrips reorders slices of sorted rows by strip, which is the strip rows around the middle row
// of the slice. Within a strip lengths decrease. Slices without entries, and the last slice if it
// has empty lanes, stay at the end.
func (l *lengths) byStrips(lanes, strip int) {
	whole := len(l.order) / lanes * lanes
	for whole > 0 && l.counts[l.order[whole-lanes]] == 0 {
		whole -= lanes
	}
	l.old = append(l.old[:0], l.order[:whole]...)
	order := l.old
	at := make([]int, len(l.order)/strip+2) // the position of the next slice of each strip
	of := func(i int) int { return int(order[i+lanes/2]) / strip }
	for i := 0; i < whole; i += lanes {
		at[of(i)+1] += lanes
	}
	for s := range len(at) - 1 {
		at[s+1] += at[s]
	}
	for i := 0; i < whole; i += lanes {
		to := &at[of(i)]
		copy(l.order[*to:], order[i:i+lanes])
		*to += lanes
	}
}
