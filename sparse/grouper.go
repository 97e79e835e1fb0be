package sparse

// grouper reorders pieces by group. It holds memory for a copy of one piece.
type grouper[V Value] struct {
	row, col []int32
	val      []V
	next     []uint32
}

// group reorders the triples of a piece by group, stably, and stores the end of each
// group in ends.
func (g *grouper[V]) group(t Triples[V], byCol bool, shift uint8, ends []uint32) {
	key := t.Row
	if byCol {
		key = t.Col
	}
	grouped, last := true, int32(0)
	for _, i := range key {
		c := i >> shift
		ends[c]++
		grouped = grouped && c >= last
		last = c
	}
	g.next = g.next[:0]
	sum := uint32(0)
	for c, n := range ends {
		g.next = append(g.next, sum)
		sum += n
		ends[c] = sum
	}
	if grouped {
		return
	}
	g.row, g.col, g.val = append(g.row[:0], t.Row...), append(g.col[:0], t.Col...), append(g.val[:0], t.Val...)
	row, col := g.row, g.col[:len(g.row)]
	key = row
	if byCol {
		key = col
	}
	if t.Val == nil {
		for k, i := range key {
			to := g.next[i>>shift]
			g.next[i>>shift] = to + 1
			t.Row[to], t.Col[to] = row[k], col[k]
		}
		return
	}
	val := g.val[:len(row)]
	for k, i := range key {
		to := g.next[i>>shift]
		g.next[i>>shift] = to + 1
		t.Row[to], t.Col[to], t.Val[to] = row[k], col[k], val[k]
	}
}
