package triangular

const (
	// chainedRow is the time of a row that waits for the row before, and listedRow and listedEntry those of a row in
	// another order, in nanoseconds; newLevel is the time of a level beside its rows.
	chainedRow             = 3.2
	listedRow, listedEntry = 1.3, 0.35
	newLevel               = 20.0
	// mostLeveled is the number of rows up to which the rows of a level, which lie far apart, are read from the second-level
	// cache. Beyond it the order of the rows is faster.
	mostLeveled = 1 << 16
)

// byLevels makes phases of levels and returns true if that is estimated to be faster than the order of the rows. It does
// not count what several workers gain.
func (p *plan[V]) byLevels() bool {
	n := p.n
	if n < p.size.rows || n > mostLeveled || p.op.Ptr[n] > 8*int64(n) {
		return false
	}
	level, most := make([]int32, n), int32(0)
	inOrder, leveled := 0.0, 0.0
	for place := range n {
		row := p.row(place)
		cols := p.op.Idx[p.op.Ptr[row]:p.op.Ptr[row+1]]
		l, chained := int32(0), false
		for _, c := range cols {
			l = max(l, level[c]+1)
			chained = chained || p.row(int(c)) == place-1
		}
		level[row], most = l, max(most, l)
		took := singleRow + singleEntry*float64(len(cols))
		if chained {
			took = max(took, chainedRow)
		}
		inOrder += took
		leveled += listedRow + listedEntry*float64(len(cols))
	}
	p.levels = int(most) + 1
	if n/p.levels < p.size.perLevel || leveled+newLevel*float64(p.levels) > inOrder {
		p.levels = 0
		return false
	}
	first := make([]int, p.levels+1)
	for _, l := range level {
		first[l+1]++
	}
	for l := range p.levels {
		first[l+1] += first[l]
	}
	p.order = make([]int32, n)
	next := append([]int(nil), first...)
	for place := range n {
		row := p.row(place)
		p.order[next[level[row]]] = int32(row)
		next[level[row]]++
	}
	for l := range p.levels {
		p.addLevel(first[l], first[l+1])
	}
	p.rows[listed] = n
	return true
}

// addLevel adds the level of the rows at the places lo to hi.
func (p *plan[V]) addLevel(lo, hi int) {
	work := hi - lo
	for _, row := range p.order[lo:hi] {
		work += int(p.op.Ptr[row+1] - p.op.Ptr[row])
	}
	if work >= p.size.level {
		pieces := min(2*work/p.size.level, farPieces)
		ph := phase{first: lo}
		for i := range pieces {
			ph.far = append(ph.far, []segment{p.listed(lo+(hi-lo)*i/pieces, lo+(hi-lo)*(i+1)/pieces)})
		}
		p.phases = append(p.phases, ph)
		return
	}
	s := p.listed(lo, hi)
	if last := len(p.phases) - 1; last >= 0 && p.phases[last].far == nil {
		p.phases[last].near[0].rows += s.rows
		return
	}
	p.phases = append(p.phases, phase{first: lo, near: []segment{s}})
}

// listed returns the segment of the rows at the places lo to hi.
func (p *plan[V]) listed(lo, hi int) segment {
	s := segment{kind: listed, first: lo, rows: hi - lo,
		scale: p.need.scale, count: p.need.count, mask: p.need.mask, idx: p.need.idx, val: p.need.val}
	for _, row := range p.order[lo:hi] {
		entries := p.op.Ptr[row+1] - p.op.Ptr[row]
		p.need.add(sizes{scale: 1, count: 1, idx: 1 + entries, val: entries})
	}
	return s
}
