package form

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// narrowSpan is the number of columns that 16-bit indices reach.
const narrowSpan = 1 << 16

// slicePlanner decides how windows of rows become slices.
type slicePlanner[V sparse.Value] struct {
	r      Rows[V]
	level  simd.Level
	lanes  int
	sorted int  // rows that are sorted together
	size   int  // rows in a window
	near   bool // x fits the last cache several times, so that it stays there
	strip  int  // rows whose slices follow each other; 0 where only their length counts

	// Of the window that was planned last:
	window
	first, end int   // rows
	low, high  int32 // of the columns of narrow entries; about, where there are wide ones
	longest    int64
	long       int // rows that are longer
	narrowRows lengths
	wideRows   lengths
	sample     []int32
}

func newSlicePlanner[V sparse.Value](r Rows[V], o SliceOptions[V]) *slicePlanner[V] {
	p := &slicePlanner[V]{r: r, level: o.Level, lanes: simd.Lanes[V](o.Level), sorted: o.Window}
	if p.sorted <= 0 {
		p.sorted = defaultWindow
	}
	p.sorted = min(p.sorted, narrowSpan)
	p.size = p.sorted
	if p.size == 1 {
		p.size = defaultWindow
	}
	p.size = (p.size + p.lanes - 1) / p.lanes * p.lanes
	p.near = !beyond(8 * mem.Size[V]() * int64(r.Cols))
	rows := min(p.size, len(r.Ptr)-1)
	for _, l := range []*lengths{&p.narrowRows, &p.wideRows} {
		l.of, l.order = make([]int32, rows), make([]uint16, rows)
	}
	return p
}

// windows is the number of windows.
func (p *slicePlanner[V]) windows() int { return (len(p.r.Ptr) - 1 + p.size - 1) / p.size }

// plan looks at window i. It fails on a column outside x.
func (p *slicePlanner[V]) plan(i int) error {
	p.window = window{}
	p.open(i)
	lo, hi, err := p.span()
	if err != nil {
		return err
	}
	p.least, p.greatest = lo, hi
	if hi-lo < narrowSpan {
		p.base, p.low, p.high = lo, lo, hi
		p.placeNarrow()
		return nil
	}
	if p.base, p.low, p.high = -1, 0, -1; !p.r.Fixed {
		p.chooseBase()
	}
	// Entries that wait for x from memory hold up the others less in slices of their own.
	choose := p.base >= 0 && p.near
	var whole group
	if choose {
		p.narrowRows.sort()
		whole, _ = p.narrowRows.group(p.lanes)
	}
	p.split()
	p.placeWide()
	p.placeNarrow()
	if choose && sliceCosts(group{}, whole, 0) < sliceCosts(p.narrow, p.wide, p.listed) {
		p.allWide()
	}
	return nil
}

// placeWide puts the wide entries into slices.
func (p *slicePlanner[V]) placeWide() {
	if p.base >= 0 {
		p.wideRows.sort()
	} else { // all entries are wide
		p.sortRows(&p.wideRows)
	}
	p.wide, p.listed = p.wideRows.group(p.lanes)
	p.tryJoint()
}

// placeNarrow puts the narrow entries into slices.
func (p *slicePlanner[V]) placeNarrow() {
	p.window.sorted = p.joint || p.sorted > 1 && !p.narrowRows.equal()
	switch {
	case p.joint:
	case p.window.sorted:
		p.sortRows(&p.narrowRows)
	default:
		p.narrowRows.keep()
	}
	p.narrow, _ = p.narrowRows.group(p.lanes)
}

// allWide makes all entries of the window wide.
func (p *slicePlanner[V]) allWide() {
	p.base, p.low, p.high = -1, 0, -1
	for r, n := range p.narrowRows.of {
		p.narrowRows.of[r], p.wideRows.of[r] = 0, p.wideRows.of[r]+n
	}
	p.placeWide()
	p.placeNarrow()
}

// What a window takes for each column, slice and row that is listed apart, in cycles (Zen 4), a mask of a column
// more, and a piece of a long row beside its columns (Zen 5).
const (
	narrowCycles = 6
	wideCycles   = 7 // 9 beside narrow ones; windows of wide entries alone store their results at once
	sliceCycles  = 8
	listedCycles = 3
	maskCycles   = 2
	pieceCycles  = 80
)

// sliceCosts is about how long slices take.
func sliceCosts(narrow, wide group, listed int32) int64 {
	slices := int64(narrow.slices) + int64(wide.slices)
	return narrowCycles*int64(narrow.columns) + wideCycles*int64(wide.columns) + sliceCycles*slices + listedCycles*int64(listed)
}

// open sets the rows of window i, with all entries narrow but those of long rows,
// which have none.
func (p *slicePlanner[V]) open(i int) {
	p.first, p.end = i*p.size, min((i+1)*p.size, len(p.r.Ptr)-1)
	n := p.end - p.first
	p.narrowRows.of, p.wideRows.of = p.narrowRows.of[:n], p.wideRows.of[:n]
	p.narrowRows.order, p.wideRows.order = p.narrowRows.order[:n], p.wideRows.order[:n]
	// So padding stays small beside a window of sorted rows, and beside few rows.
	p.longest = 8*(p.r.at(p.end)-p.r.at(p.first))/int64(max(n, 64)) + 128
	ptr := p.r.Ptr[p.first : p.end+1]
	if p.r.Fixed {
		p.longest = kernels.FixedChunk // no row is longer
	}
	p.long = 0
	of, from := p.narrowRows.of, ptr[0]
	for r, to := range ptr[1:] {
		n := to - from
		if n > p.longest {
			n = 0
			p.long++
		}
		of[r], from = int32(n), to
	}
	if p.sorted > 1 && !p.r.Fixed {
		p.cutUneven()
	}
}

// worthCutting is how many entries the longest row of a window has where it may be worth looking for more long rows.
const worthCutting = 256

// cutUneven makes the longest of the other rows long as well, where pieces of them take less time than slices in which
// they lie beside rows with fewer entries.
func (p *slicePlanner[V]) cutUneven() {
	rows := &p.narrowRows
	if len(rows.of) == 0 || slices.Max(rows.of) < worthCutting {
		return
	}
	rows.sort()
	all, _ := rows.group(p.lanes)
	cost, longest := all.cycles(), p.longest
	least := cost
	for i := 0; i < len(rows.order); i += p.lanes { // the slices from the first one to this one in pieces
		full, masked := rows.widths(i, p.lanes)
		cost -= group{1, full + masked, masked}.cycles()
		end := min(i+p.lanes, len(rows.order))
		for _, r := range rows.order[i:end] {
			cost += pieceCycles + narrowCycles*int64(rows.of[r])/int64(p.lanes)
		}
		if cost < least {
			least, longest = cost, 0
			if end < len(rows.order) {
				longest = int64(rows.of[rows.order[end]])
			}
		}
	}
	if longest == p.longest {
		return
	}
	p.longest = longest
	for r, n := range rows.of {
		if int64(n) > longest {
			rows.of[r] = 0
			p.long++
		}
	}
}

// cycles is about how long narrow slices of long rows take.
func (g group) cycles() int64 { return sliceCosts(g, group{}, 0) + maskCycles*int64(g.masks) }

// isLong reports whether row r of the window is long.
func (p *slicePlanner[V]) isLong(r int) bool {
	return p.r.Ptr[p.first+r+1]-p.r.Ptr[p.first+r] > p.longest
}

// span is the least and the greatest column of the rows that are not long, 0 and 0
// when they have no entries. It fails when any column is outside x.
func (p *slicePlanner[V]) span() (lo, hi int32, err error) {
	if lo, hi, err = p.columns(p.r.at(p.first), p.r.at(p.end)); err != nil || hi-lo < narrowSpan {
		return lo, hi, err
	}
	lo, hi = 0, 0
	from, none := p.r.at(p.first), true
	look := func(to int64) {
		if from < to {
			a, b := simd.MinMax(p.level, p.r.Idx[from:to])
			if none {
				lo, hi = a, b
			}
			lo, hi, none = min(lo, a), max(hi, b), false
		}
	}
	for r := range p.narrowRows.of {
		if p.isLong(r) {
			look(p.r.at(p.first + r))
			from = p.r.at(p.first + r + 1)
		}
	}
	look(p.r.at(p.end))
	return lo, hi, nil
}

// columns is the least and the greatest column of some entries, 0 and 0 for none.
func (p *slicePlanner[V]) columns(from, to int64) (lo, hi int32, err error) {
	if from == to {
		return 0, 0, nil
	}
	lo, hi = simd.MinMax(p.level, p.r.Idx[from:to])
	if lo < 0 || int(hi) >= p.r.Cols {
		return 0, 0, checkColumns(p.r.Idx[from:to], p.r.Cols)
	}
	return lo, hi, nil
}

// sampleLen is how many entries of a window are looked at to find where most are.
const sampleLen = 128

// chooseBase sets the base such that narrow indices reach as many entries of a
// sample as can be; to -1 where that is less than half of them.
func (p *slicePlanner[V]) chooseBase() {
	from, to := p.r.at(p.first), p.r.at(p.end)
	p.sample = p.sample[:0]
	for i := range int64(sampleLen) {
		p.sample = append(p.sample, p.r.Idx[from+i*(to-from)/sampleLen])
	}
	slices.Sort(p.sample)
	most, first := 0, 0
	for i, j := 0, 0; j < len(p.sample); j++ {
		for p.sample[j]-p.sample[i] >= narrowSpan {
			i++
		}
		if j-i+1 > most {
			most, first = j-i+1, i
		}
	}
	p.base, p.low, p.high = -1, 0, -1
	if 2*most >= sampleLen {
		spare := narrowSpan - 1 - (p.sample[first+most-1] - p.sample[first])
		p.base = max(0, p.sample[first]-spare/2)
		p.low, p.high = p.sample[first], p.sample[first+most-1]
	}
}

// worthAhead reports whether the window reads about every line of x from a column
// to the highest: at least one entry for eight columns.
func (p *slicePlanner[V]) worthAhead(from int32) bool {
	entries := p.r.at(p.end) - p.r.at(p.first)
	return from <= p.high && int64(p.high-from) <= 8*entries
}

// jointRows is how many rows must be spared an addition of their own for a column more of wide
// slices.
const jointRows = 16

// tryJoint lets wide slices, whose rows are sorted, have these in the same lanes as narrow ones,
// which takes no order of their own and adds to whole registers of sums, unless it takes many more
// columns. Rows are then in the order of falling numbers of narrow entries, in each strip if there are any, and
// those with equal numbers in that of wide ones.
func (p *slicePlanner[V]) tryJoint() {
	if p.sorted == 1 || p.r.Fixed {
		return
	}
	p.narrowRows.sortFrom(p.wideRows.order)
	if p.strip > 0 && p.base >= 0 {
		p.narrowRows.byStrips(p.lanes, p.strip)
	}
	joint := lengths{of: p.wideRows.of, order: p.narrowRows.order}
	if g, _ := joint.group(p.lanes); g.columns <= p.wide.columns+p.listed/jointRows {
		copy(p.wideRows.order, p.narrowRows.order)
		p.wide, p.listed, p.joint = g, 0, true
	}
}

// oneIfNarrow is 1 for a column within reach of a base that is at least 0, and
// otherwise 0: which of them cannot be foreseen, so that to count is faster than to
// branch.
func oneIfNarrow(base, c int32) (one int32) {
	if uint32(c-base) < narrowSpan {
		one = 1
	}
	return one
}

// split counts the narrow and the wide entries of each row.
func (p *slicePlanner[V]) split() {
	for r, all := range p.narrowRows.of {
		if all == 0 {
			p.wideRows.of[r] = 0
			continue
		}
		narrow := int32(0)
		if p.base >= 0 {
			for _, c := range p.r.Idx[p.r.at(p.first+r):p.r.at(p.first+r+1)] {
				narrow += oneIfNarrow(p.base, c)
			}
		}
		p.narrowRows.of[r], p.wideRows.of[r] = narrow, all-narrow
	}
}
