package triangular

import (
	"fmt"
	"slices"
	"sort"

	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

const (
	group = 8 // rows of a block, and columns of a long run

	// leastFar is the least fraction of far entries of a triangle that is cut into phases, and farPieces the number of
	// pieces of the far entries of a phase.
	leastFar  = 0.25
	farPieces = 8

	// stopEvery is the number of entries after which TrianglePacking.Stop is called.
	stopEvery = 1 << 22
)

// sizeOfPhases says when a triangle is cut into phases or levels.
type sizeOfPhases struct {
	least    int64 // entries from which a triangle is cut into phases
	entries  int64 // of a phase
	rows     int   // least number of rows of a triangle that is stored by levels
	perLevel int   // least mean number of rows of its levels
	level    int   // number of entries and rows of a level from which the workers share it
}

// standard is the sizeOfPhases of New. One worker loses up to a fifth with phases; two lose more where a phase takes only
// some times as long as a hand-over between them, which takes up to half a microsecond.
var standard = sizeOfPhases{least: 1 << 20, entries: 1 << 16, rows: 1 << 13, perLevel: 64, level: 1 << 13}

// The estimated time of each kind in nanoseconds, measured on Zen 5 with data in the second-level cache.
const (
	bareRow                              = 0.1
	singleRow, singleEntry               = 0.9, 0.28
	runsRow, longRun, shortRun, runEntry = 1.9, 0.55, 0.5, 0.25
	blocksGroup, fullColumn, partColumn  = 14.0, 0.35, 1.15
	newSegment                           = 8.0
)

// tally counts what 8 rows would store.
type tally struct {
	rows, entries       int64
	long, short, alone  int64 // runs of 8, runs of 4, and entries in none
	full, part, inParts int64 // columns of all 8 rows, other columns, and the entries of these
}

// cost returns the estimated time for a kind.
func (c *tally) cost(k kind) float64 {
	switch k {
	case bare:
		return bareRow * float64(c.rows)
	case runs:
		return runsRow*float64(c.rows) + longRun*float64(c.long) + shortRun*float64(c.short) + runEntry*float64(c.alone)
	case blocks:
		return blocksGroup + fullColumn*float64(c.full) + partColumn*float64(c.part)
	}
	return singleRow*float64(c.rows) + singleEntry*float64(c.entries)
}

// sizes returns the elements that a kind stores.
func (c *tally) sizes(k kind) sizes {
	switch k {
	case bare:
		return sizes{scale: c.rows}
	case runs:
		return sizes{scale: c.rows, count: 3 * c.rows, idx: c.long + c.short + c.alone, val: c.entries}
	case blocks:
		val := (group*(c.full+group) + c.inParts + group - 1) / group * group
		return sizes{scale: c.rows, count: 2, mask: group + c.part, idx: c.full + c.part, val: val}
	}
	return sizes{scale: c.rows, count: c.rows, idx: c.entries, val: c.entries}
}

// plan chooses the phases, and the kinds of the rows.
type plan[V sparse.Value] struct {
	*Triangle[V]
	op      *kernels.TrianglePacking[V]
	allowed [kinds]bool
	phases  []phase
	need    sizes
	levels  int // 0 unless the triangle is stored by levels
	rows    [kinds]int
	seen    []uint8 // of each column, the rows of the group that have it; 0 between two groups
	touched []int32
	starts  runStarts
	since   int64 // entries since the last call of Stop
}

func newPlan[V sparse.Value](t *Triangle[V], op *kernels.TrianglePacking[V]) *plan[V] {
	p := &plan[V]{Triangle: t, op: op}
	p.allowed[bare], p.allowed[single] = true, true
	p.allowed[runs] = t.level >= simd.AVX2
	p.allowed[blocks] = t.level >= simd.AVX512
	if p.allowed[blocks] {
		p.seen = make([]uint8, t.n)
	}
	return p
}

// why describes the choice.
func (p *plan[V]) why() string {
	text := fmt.Sprintf("%d rows without entries, %d of single entries, %d of runs, %d in blocks", p.rows[bare], p.rows[single], p.rows[runs], p.rows[blocks])
	if p.levels > 0 {
		return fmt.Sprintf("%d levels", p.levels)
	}
	if n := len(p.phases); n > 1 {
		text += fmt.Sprintf("; %d phases", n)
	}
	return text
}

// cut cuts the rows into phases and each phase into segments.
func (p *plan[V]) cut() error {
	if p.byLevels() {
		return nil
	}
	bounds := p.bounds()
	p.phases = make([]phase, len(bounds)-1)
	for k := range p.phases {
		lo, hi := bounds[k], bounds[k+1]
		p.phases[k].first = lo
		part := part[V]{op: p.op, n: p.n, first: bounds[max(k-1, 0)]}
		if part.first > 0 {
			part.far = true
			far, err := p.segments(part, lo, hi, farPieces)
			if err != nil {
				return err
			}
			p.phases[k].far = far
			part.far = false
		}
		near, err := p.segments(part, lo, hi, 1)
		if err != nil {
			return err
		}
		p.phases[k].near = slices.Concat(near...)
	}
	return nil
}

// bounds returns the first place of each phase, and the number of rows.
func (p *plan[V]) bounds() []int {
	whole := []int{0, p.n}
	entries := p.op.Ptr[p.n]
	if entries < p.size.least {
		return whole
	}
	bounds, in := []int{0}, int64(0)
	for place := range p.n {
		if in >= p.size.entries && place%group == 0 {
			bounds, in = append(bounds, place), 0
		}
		r := p.row(place)
		in += p.op.Ptr[r+1] - p.op.Ptr[r] + 1
	}
	bounds = append(bounds, p.n)
	far := int64(0)
	for k := 2; k < len(bounds)-1; k++ {
		part := part[V]{op: p.op, n: p.n, first: bounds[k-1], far: true}
		for place := bounds[k]; place < bounds[k+1]; place++ {
			lo, hi := part.entries(p.row(place))
			far += hi - lo
		}
	}
	if float64(far) < leastFar*float64(entries) {
		return whole
	}
	return bounds
}

// part selects entries: those in columns of the places before first, the far ones, or all others.
type part[V sparse.Value] struct {
	op    *kernels.TrianglePacking[V]
	n     int
	first int
	far   bool
}

// entries returns the range of the selected entries of a row.
func (q *part[V]) entries(row int) (lo, hi int64) {
	lo, hi = q.op.Ptr[row], q.op.Ptr[row+1]
	if q.first == 0 {
		return lo, hi
	}
	cols := q.op.Idx[lo:hi]
	if q.op.Upper { // far columns are the last ones
		at := lo + int64(sort.Search(len(cols), func(i int) bool { return int(cols[i]) > q.n-1-q.first }))
		if q.far {
			return at, hi
		}
		return lo, at
	}
	at := lo + int64(sort.Search(len(cols), func(i int) bool { return int(cols[i]) >= q.first }))
	if q.far {
		return lo, at
	}
	return at, hi
}

// segments chooses the kinds of the rows at the places lo to hi so that the sum of their times is least, and cuts the
// segments into at most the given number of pieces with about as many entries each.
func (p *plan[V]) segments(q part[V], lo, hi, pieces int) ([][]segment, error) {
	n := (hi - lo + group - 1) / group
	tallies := make([]tally, n)
	// Dynamic programming: cost[k] is the least time of the groups so far if the last one is of kind k, and from[g][k]
	// the kind of group g-1 then.
	var cost [kinds]float64
	from := make([][kinds]kind, n)
	all := int64(0)
	for g := range tallies {
		c := &tallies[g]
		*c = p.count(&q, lo+g*group, min(lo+(g+1)*group, hi))
		all += c.entries
		if p.since += c.entries + 1; p.since >= stopEvery && p.op.Stop != nil {
			p.since = 0
			if err := p.op.Stop(); err != nil {
				return nil, err
			}
		}
		before := cost
		for k := range kinds {
			best := kind(0)
			for b := range kinds {
				if before[b]+changed(b, k) < before[best]+changed(best, k) {
					best = b
				}
			}
			from[g][k] = best
			cost[k] = before[best] + changed(best, k) + c.cost(k)
			if !p.allowed[k] || k == blocks && c.rows < group || k == bare && c.entries > 0 {
				cost[k] = 1e300
			}
		}
	}
	chosen := make([]kind, n)
	last := bare
	for k := range kinds {
		if cost[k] < cost[last] {
			last = k
		}
	}
	for g := n - 1; g >= 0; g-- {
		chosen[g], last = last, from[g][last]
	}
	return p.assign(tallies, chosen, lo, all, pieces), nil
}

// changed returns the cost of a change of kinds.
func changed(a, b kind) float64 {
	if a == b {
		return 0
	}
	return newSegment
}

// assign makes segments of successive groups of the same kind, and gives them their places in the store.
func (p *plan[V]) assign(tallies []tally, chosen []kind, lo int, all int64, pieces int) [][]segment {
	out := [][]segment{nil}
	done := int64(0)
	for g, c := range tallies {
		k := chosen[g]
		if at := len(out); at < pieces && done*int64(pieces) >= all*int64(at) && done > 0 {
			out = append(out, nil)
		}
		done += c.entries
		piece := &out[len(out)-1]
		if n := len(*piece); n == 0 || (*piece)[n-1].kind != k {
			if k == blocks {
				p.need.val = (p.need.val + group - 1) / group * group
			}
			*piece = append(*piece, segment{kind: k, first: lo + g*group,
				scale: p.need.scale, count: p.need.count, mask: p.need.mask, idx: p.need.idx, val: p.need.val})
		}
		(*piece)[len(*piece)-1].rows += int(c.rows)
		p.rows[k] += int(c.rows)
		p.need.add(c.sizes(k))
	}
	return out
}

// count returns what the rows at the places lo to hi would store.
func (p *plan[V]) count(q *part[V], lo, hi int) tally {
	c := tally{rows: int64(hi - lo)}
	for place := lo; place < hi; place++ {
		row := p.row(place)
		a, b := q.entries(row)
		c.entries += b - a
		if p.allowed[runs] && b-a >= 4 {
			p.starts.find(p.op.Idx[a:b], row, p.upper)
			c.long += int64(len(p.starts.long))
			c.short += int64(len(p.starts.short))
			c.alone += int64(len(p.starts.alone))
		} else {
			c.alone += b - a
		}
	}
	if !p.allowed[blocks] || hi-lo < group || c.entries < group {
		return c
	}
	touched := p.touched[:0]
	for place := lo; place < hi; place++ {
		a, b := q.entries(p.row(place))
		for _, col := range p.op.Idx[a:b] {
			if at := p.row(int(col)); at >= lo {
				continue // a column of one of the 8 rows
			}
			if p.seen[col] == 0 {
				touched = append(touched, col)
			}
			p.seen[col]++
		}
	}
	for _, col := range touched {
		if p.seen[col] == group {
			c.full++
		} else {
			c.part++
			c.inParts += int64(p.seen[col])
		}
		p.seen[col] = 0
	}
	p.touched = touched
	return c
}

// runStarts has, for one row, the indices of the first entries of its runs, and of the other entries.
type runStarts struct{ long, short, alone []int32 }

// find cuts the entries of a row into runs. Columns less than 8 from the row are in no run: a run is read at once, and
// would wait for its newest element.
func (s *runStarts) find(cols []int32, row int, upper bool) {
	s.long, s.short, s.alone = s.long[:0], s.short[:0], s.alone[:0]
	lo, hi := 0, len(cols) // entries that may be in runs
	if upper {
		lo = sort.Search(hi, func(i int) bool { return int(cols[i]) > row+group })
	} else {
		hi = sort.Search(hi, func(i int) bool { return int(cols[i]) >= row-group })
	}
	for k := range lo {
		s.alone = append(s.alone, int32(k))
	}
	for k := lo; k < hi; {
		end := k + 1
		for end < hi && cols[end] == cols[end-1]+1 {
			end++
		}
		for ; end-k >= group; k += group {
			s.long = append(s.long, int32(k))
		}
		if end-k >= group/2 {
			s.short = append(s.short, int32(k))
			k += group / 2
		}
		for ; k < end; k++ {
			s.alone = append(s.alone, int32(k))
		}
	}
	for k := hi; k < len(cols); k++ {
		s.alone = append(s.alone, int32(k))
	}
	if upper { // the newest elements of x last
		slices.Reverse(s.long)
		slices.Reverse(s.short)
		slices.Reverse(s.alone)
	}
}
