package form

import "slices"

// lengths is the entries of each row of a window that go to one kind of slices, or the blocks of
// each row of blocks.
type lengths struct {
	of    []int32
	order []uint16   // the rows as they follow in lanes, those without entries last
	falls bool       // the order is that of falling length
	count [][4]int32 // scratch of sort
	old   []uint16   // and of byStrips
}

// equal reports whether all rows have the same number of entries.
func (l *lengths) equal() bool {
	for _, n := range l.of {
		if n != l.of[0] {
			return false
		}
	}
	return true
}

// keep leaves the rows in their order.
func (l *lengths) keep() {
	for i := range l.order {
		l.order[i] = uint16(i)
	}
	l.falls = false
}

// sort orders the rows by falling length, those of equal length as they are.
func (l *lengths) sort() { l.sortFrom(successiveRows()[:len(l.of)]) }

// sortFrom orders the rows by falling length, those of equal length as in first.
func (l *lengths) sortFrom(first []uint16) {
	l.falls = true
	of, order := l.of, l.order
	longest := int32(0)
	for _, n := range of {
		longest = max(longest, n)
	}
	if int(longest) > 8*len(of)+1024 {
		copy(order, first)
		slices.SortStableFunc(order, func(a, b uint16) int { return int(of[b]) - int(of[a]) })
		return
	}
	// Counting sort, where a quarter of the rows does not wait for the counts of another.
	l.count = append(l.count[:0], make([][4]int32, longest+1)...)
	count, n := l.count, len(first)/4
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
	at := int32(0) // the place of the next row
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

// group is the slices that the rows make in their order, and the number of rows in
// them. Slices at the end whose rows have no entries are left out.
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

// widths is the number of columns in which all lanes of the slice that begins with
// row i of the order have an entry, and of those in which some have.
func (l *lengths) widths(i, lanes int) (full, masked int32) {
	order := l.order[i:min(i+lanes, len(l.order))]
	longest, shortest := l.of[order[0]], l.of[order[len(order)-1]]
	if !l.falls {
		for _, r := range order {
			shortest, longest = min(shortest, l.of[r]), max(longest, l.of[r])
		}
	}
	if len(order) < lanes {
		shortest = 0
	}
	return shortest, longest - shortest
}

// byStrips lets slices of sorted rows whose middle rows lie in the same strip, so many successive rows, follow each
// other, with falling lengths in each strip. The last slice, if it has empty lanes, and those without entries stay
// behind all others.
func (l *lengths) byStrips(lanes, strip int) {
	whole := len(l.order) / lanes * lanes
	for whole > 0 && l.of[l.order[whole-lanes]] == 0 {
		whole -= lanes
	}
	l.old = append(l.old[:0], l.order[:whole]...)
	order := l.old
	at := make([]int, len(l.order)/strip+2) // where the next slice of a strip goes
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
