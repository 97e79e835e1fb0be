package form

import "slices"

// lengths is the entries of each row of a window that go to one kind of slices, or the blocks of
// each row of blocks.
type lengths struct {
	of    []int32
	order []uint16   // the rows as they follow in lanes, those without entries last
	count [][4]int32 // scratch of sort
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
}

// sort orders the rows by falling length, those of equal length as they are.
func (l *lengths) sort() { l.sortFrom(successiveRows()[:len(l.of)]) }

// sortFrom orders the rows by falling length, those of equal length as in first.
func (l *lengths) sortFrom(first []uint16) {
	longest := int32(0)
	for _, n := range l.of {
		longest = max(longest, n)
	}
	if int(longest) > 8*len(l.of)+1024 {
		copy(l.order, first)
		slices.SortStableFunc(l.order, func(a, b uint16) int { return int(l.of[b]) - int(l.of[a]) })
		return
	}
	// Counting sort, where a quarter of the rows does not wait for the counts of another.
	l.count = append(l.count[:0], make([][4]int32, longest+1)...)
	n := len(first) / 4
	quarters := [4][]uint16{first[:n], first[n : 2*n], first[2*n : 3*n], first[3*n:]}
	for i := range n {
		for q, rows := range quarters {
			l.count[longest-l.of[rows[i]]][q]++
		}
	}
	for _, r := range quarters[3][n:] {
		l.count[longest-l.of[r]][3]++
	}
	at := int32(0) // the place of the next row
	for i := range l.count {
		for q, n := range l.count[i] {
			l.count[i][q] = at
			at += n
		}
	}
	put := func(q int, r uint16) {
		at := &l.count[longest-l.of[r]][q]
		l.order[*at] = r
		*at++
	}
	for i := range n {
		for q, rows := range quarters {
			put(q, rows[i])
		}
	}
	for _, r := range quarters[3][n:] {
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
	shortest, longest := l.of[order[0]], l.of[order[0]]
	for _, r := range order[1:] {
		shortest, longest = min(shortest, l.of[r]), max(longest, l.of[r])
	}
	if len(order) < lanes {
		shortest = 0
	}
	return shortest, longest - shortest
}
