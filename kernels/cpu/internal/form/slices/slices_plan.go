package slices

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// slicePlanner decides how windows of rows become slices.
type slicePlanner[V sparse.Value] struct {
	r      form.Rows[V]
	level  simd.Level
	lanes  int
	sorted int  // number of rows that are sorted together
	size   int  // number of rows of a window
	near   bool // several times x fits in the last-level cache, so that x stays there
	strip  int  // number of rows of a strip; 0 if slices are ordered by length alone

	// The current window:
	window
	first, end int   // rows
	low, high  int32 // columns of narrow entries; about, if there are wide ones
	longest    int64
	long       int // number of rows that are longer than longest
	narrowRows form.Lengths
	wideRows   form.Lengths
	sample     []int32
}

func newSlicePlanner[V sparse.Value](r form.Rows[V], o SliceOptions[V]) *slicePlanner[V] {
	p := &slicePlanner[V]{r: r, level: o.Level, lanes: simd.Lanes[V](o.Level), sorted: o.Window}
	if p.sorted <= 0 {
		p.sorted = defaultWindow
	}
	p.sorted = min(p.sorted, form.NarrowSpan)
	p.size = p.sorted
	if p.size == 1 {
		p.size = defaultWindow
	}
	p.size = (p.size + p.lanes - 1) / p.lanes * p.lanes
	p.near = !form.Beyond(8 * mem.Size[V]() * int64(r.Cols))
	rows := min(p.size, len(r.Ptr)-1)
	for _, l := range []*form.Lengths{&p.narrowRows, &p.wideRows} {
		l.Counts, l.Order = make([]int32, rows), make([]uint16, rows)
	}
	return p
}

// windows returns the number of windows.
func (p *slicePlanner[V]) windows() int { return (len(p.r.Ptr) - 1 + p.size - 1) / p.size }

// plan plans window i. It fails if a column is outside x.
func (p *slicePlanner[V]) plan(i int) error {
	p.window = window{}
	p.open(i)
	lo, hi, err := p.span()
	if err != nil {
		return err
	}
	p.least, p.greatest = lo, hi
	if hi-lo < form.NarrowSpan {
		p.base, p.low, p.high = lo, lo, hi
		p.placeNarrow()
		return nil
	}
	if p.base, p.low, p.high = -1, 0, -1; !p.r.Fixed {
		p.chooseBase()
	}
	// Entries that wait for x from memory delay the others less if they are in slices of their own.
	choose := p.base >= 0 && p.near
	var whole form.Group
	if choose {
		p.narrowRows.Sort()
		whole, _ = p.narrowRows.Group(p.lanes)
	}
	p.split()
	p.placeWide()
	p.placeNarrow()
	if choose && sliceCosts(form.Group{}, whole, 0) < sliceCosts(p.narrow, p.wide, p.listed) {
		p.makeAllWide()
	}
	return nil
}

// placeWide divides the wide entries into slices.
func (p *slicePlanner[V]) placeWide() {
	if p.base >= 0 {
		p.wideRows.Sort()
	} else { // all entries are wide
		p.sortRows(&p.wideRows)
	}
	p.wide, p.listed = p.wideRows.Group(p.lanes)
	p.tryJoint()
}

// placeNarrow divides the narrow entries into slices.
func (p *slicePlanner[V]) placeNarrow() {
	p.window.sorted = p.joint || p.sorted > 1 && !p.narrowRows.Equal()
	switch {
	case p.joint:
	case p.window.sorted:
		p.sortRows(&p.narrowRows)
	default:
		p.narrowRows.KeepOrder()
	}
	p.narrow, _ = p.narrowRows.Group(p.lanes)
}

// makeAllWide makes all entries of the window wide.
func (p *slicePlanner[V]) makeAllWide() {
	p.base, p.low, p.high = -1, 0, -1
	for r, n := range p.narrowRows.Counts {
		p.narrowRows.Counts[r], p.wideRows.Counts[r] = 0, p.wideRows.Counts[r]+n
	}
	p.placeWide()
	p.placeNarrow()
}

// The costs of a window in cycles: per column, per slice and per row of wide slices that are not
// joint (Zen 4); in addition per column with a mask, and per piece of a long row (Zen 5).
const (
	narrowCycles = 6
	wideCycles   = 7 // 9 beside narrow columns; a window without narrow entries stores its results directly
	sliceCycles  = 8
	listedCycles = 3
	maskCycles   = 2
	pieceCycles  = 80
)

// sliceCosts returns about the number of cycles of slices.
func sliceCosts(narrow, wide form.Group, listed int32) int64 {
	slices := int64(narrow.Slices) + int64(wide.Slices)
	return narrowCycles*int64(narrow.Columns) + wideCycles*int64(wide.Columns) + sliceCycles*slices + listedCycles*int64(listed)
}

// open starts window i. All entries are narrow; long rows count as empty.
func (p *slicePlanner[V]) open(i int) {
	p.first, p.end = i*p.size, min((i+1)*p.size, len(p.r.Ptr)-1)
	n := p.end - p.first
	p.narrowRows.Counts, p.wideRows.Counts = p.narrowRows.Counts[:n], p.wideRows.Counts[:n]
	p.narrowRows.Order, p.wideRows.Order = p.narrowRows.Order[:n], p.wideRows.Order[:n]
	// Padding is then small for a window of sorted rows and for few rows.
	p.longest = 8*(p.r.At(p.end)-p.r.At(p.first))/int64(max(n, 64)) + 128
	ptr := p.r.Ptr[p.first : p.end+1]
	if p.r.Fixed {
		p.longest = kernels.FixedChunk // no row is longer
	}
	p.long = 0
	of, from := p.narrowRows.Counts, ptr[0]
	for r, to := range ptr[1:] {
		n := to - from
		if n > p.longest {
			n = 0
			p.long++
		}
		of[r], from = int32(n), to
	}
	if p.sorted > 1 && !p.r.Fixed {
		p.addLongRows()
	}
}

// worthCutting is the least length of the longest row for which addLongRows looks for more long
// rows.
const worthCutting = 256

// addLongRows makes more rows long, the longest first, if pieces of them take less time than slices
// with shorter rows.
func (p *slicePlanner[V]) addLongRows() {
	rows := &p.narrowRows
	if len(rows.Counts) == 0 || slices.Max(rows.Counts) < worthCutting {
		return
	}
	rows.Sort()
	all, _ := rows.Group(p.lanes)
	cost, longest := cycles(all), p.longest
	least := cost
	for i := 0; i < len(rows.Order); i += p.lanes { // the slices up to this one become pieces
		full, masked := rows.Widths(i, p.lanes)
		cost -= cycles(form.Group{Slices: 1, Columns: full + masked, Masks: masked})
		end := min(i+p.lanes, len(rows.Order))
		for _, r := range rows.Order[i:end] {
			cost += pieceCycles + narrowCycles*int64(rows.Counts[r])/int64(p.lanes)
		}
		if cost < least {
			least, longest = cost, 0
			if end < len(rows.Order) {
				longest = int64(rows.Counts[rows.Order[end]])
			}
		}
	}
	if longest == p.longest {
		return
	}
	p.longest = longest
	for r, n := range rows.Counts {
		if int64(n) > longest {
			rows.Counts[r] = 0
			p.long++
		}
	}
}

// cycles returns about the number of cycles of narrow slices with masks.
func cycles(g form.Group) int64 { return sliceCosts(g, form.Group{}, 0) + maskCycles*int64(g.Masks) }

// isLong reports whether row r of the window is long.
func (p *slicePlanner[V]) isLong(r int) bool {
	return p.r.Ptr[p.first+r+1]-p.r.Ptr[p.first+r] > p.longest
}

// span returns the least and the greatest column of the rows that are not long, or 0 and 0 if these
// have no entries. It fails if a column of any row is outside x.
func (p *slicePlanner[V]) span() (lo, hi int32, err error) {
	if lo, hi, err = p.columns(p.r.At(p.first), p.r.At(p.end)); err != nil || hi-lo < form.NarrowSpan {
		return lo, hi, err
	}
	lo, hi = 0, 0
	from, none := p.r.At(p.first), true
	include := func(to int64) {
		if from < to {
			a, b := form.MinMax(p.level, p.r.Idx[from:to])
			if none {
				lo, hi = a, b
			}
			lo, hi, none = min(lo, a), max(hi, b), false
		}
	}
	for r := range p.narrowRows.Counts {
		if p.isLong(r) {
			include(p.r.At(p.first + r))
			from = p.r.At(p.first + r + 1)
		}
	}
	include(p.r.At(p.end))
	return lo, hi, nil
}

// columns returns the least and the greatest column of the entries from <= k < to, or 0 and 0 if
// there are none.
func (p *slicePlanner[V]) columns(from, to int64) (lo, hi int32, err error) {
	if from == to {
		return 0, 0, nil
	}
	lo, hi = form.MinMax(p.level, p.r.Idx[from:to])
	if lo < 0 || int(hi) >= p.r.Cols {
		return 0, 0, form.CheckColumns(p.r.Idx[from:to], p.r.Cols)
	}
	return lo, hi, nil
}

// sampleLen is the number of entries from which chooseBase chooses the base of a window.
const sampleLen = 128

// chooseBase sets base such that as many entries of a sample as possible are narrow, or to -1 if
// less than half of them would be.
func (p *slicePlanner[V]) chooseBase() {
	from, to := p.r.At(p.first), p.r.At(p.end)
	p.sample = p.sample[:0]
	for i := range int64(sampleLen) {
		p.sample = append(p.sample, p.r.Idx[from+i*(to-from)/sampleLen])
	}
	slices.Sort(p.sample)
	most, first := 0, 0
	for i, j := 0, 0; j < len(p.sample); j++ {
		for p.sample[j]-p.sample[i] >= form.NarrowSpan {
			i++
		}
		if j-i+1 > most {
			most, first = j-i+1, i
		}
	}
	p.base, p.low, p.high = -1, 0, -1
	if 2*most >= sampleLen {
		spare := form.NarrowSpan - 1 - (p.sample[first+most-1] - p.sample[first])
		p.base = max(0, p.sample[first]-spare/2)
		p.low, p.high = p.sample[first], p.sample[first+most-1]
	}
}

// worthPrefetching reports whether the window reads most cache lines of x between column from and
// the highest: it has at least one entry per eight columns.
func (p *slicePlanner[V]) worthPrefetching(from int32) bool {
	entries := p.r.At(p.end) - p.r.At(p.first)
	return from <= p.high && int64(p.high-from) <= 8*entries
}

// jointRows is the number of additions to rows that one more column of wide slices must save.
const jointRows = 16

// tryJoint gives rows the same lanes in wide slices as in narrow ones, unless the wide slices would
// then have many more columns. Joint slices need no order of their own and add whole registers to
// the sums. The rows are then ordered by decreasing number of narrow entries (within each strip, if
// there are strips), and by decreasing number of wide entries among equals.
func (p *slicePlanner[V]) tryJoint() {
	if p.sorted == 1 || p.r.Fixed {
		return
	}
	p.narrowRows.SortFrom(p.wideRows.Order)
	if p.strip > 0 && p.base >= 0 {
		p.narrowRows.ByStrips(p.lanes, p.strip)
	}
	joint := form.Lengths{Counts: p.wideRows.Counts, Order: p.narrowRows.Order}
	if g, _ := joint.Group(p.lanes); g.Columns <= p.wide.Columns+p.listed/jointRows {
		copy(p.wideRows.Order, p.narrowRows.Order)
		p.wide, p.listed, p.joint = g, 0, true
	}
}

// oneIfNarrow returns 1 if column c is narrow for a base of at least 0, and 0 otherwise. Counting
// is faster than a branch, which would be unpredictable.
func oneIfNarrow(base, c int32) (one int32) {
	if uint32(c-base) < form.NarrowSpan {
		one = 1
	}
	return one
}

// split counts the narrow and the wide entries of each row.
func (p *slicePlanner[V]) split() {
	for r, all := range p.narrowRows.Counts {
		if all == 0 {
			p.wideRows.Counts[r] = 0
			continue
		}
		narrow := int32(0)
		if p.base >= 0 {
			for _, c := range p.r.Idx[p.r.At(p.first+r):p.r.At(p.first+r+1)] {
				narrow += oneIfNarrow(p.base, c)
			}
		}
		p.narrowRows.Counts[r], p.wideRows.Counts[r] = narrow, all-narrow
	}
}
