package sparse

import (
	"math/bits"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// Replaced in tests.
var (
	// groupFrom is how many triples are worth grouping: fewer stay in the caches.
	groupFrom int64 = 1 << 18
	// pieceEntries is how many are grouped at a time, within the second cache.
	pieceEntries = 1 << 16
	// A group has about groupEntries triples: what becomes of them stays in the second cache.
	groupEntries int64 = 1 << 14
)

// mostGroups bounds them, as each piece has a run for each.
const mostGroups = 1 << 10

// assembler is Assemble for general matrices of many triples. Their rows are cut into
// groups of successive ones. First the triples are cut into pieces, and in each piece they are
// moved, group by group and in their order. Then one goroutine at a time makes the rows of
// a group: it finds its triples in runs, one in each piece, and what it writes stays in the
// cache, however the triples were scattered.
type assembler[V Value] struct {
	out    *CSR[V]
	pieces []Triples[V]
	shift  uint8 // log2 of the rows of a group
	groups int
	ends   []uint32 // of each piece, where its groups end
	start  []int64  // where the entries of each group begin in the result
}

// assembleGroups is Assemble, but for the sums of duplicates, which it reports.
func assembleGroups[V Value](rows, cols int, blocks []Triples[V], stored int64) (m *CSR[V], twins bool) {
	a := assembler[V]{out: &CSR[V]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1), ColIdx: make([]int32, stored), Val: make([]V, stored)}}
	groups := min(max(stored/groupEntries, 1), mostGroups)
	a.shift = uint8(bits.Len64(uint64(int64(rows-1) / groups)))
	a.groups = (rows-1)>>a.shift + 1
	a.cut(blocks)
	workers := par.Workers(stored, 1<<15)
	a.ends = make([]uint32, len(a.pieces)*a.groups)
	par.Do(workers, func(w int) {
		var g grouper[V]
		for i := w; i < len(a.pieces); i += workers {
			g.group(a.pieces[i], a.shift, a.endsOf(i))
		}
	})
	a.start = make([]int64, a.groups+1)
	for i := range a.pieces {
		first := uint32(0)
		for g, end := range a.endsOf(i) {
			a.start[g+1] += int64(end - first)
			first = end
		}
	}
	for g := range a.groups {
		a.start[g+1] += a.start[g]
	}
	var next atomic.Int64
	var found atomic.Bool
	par.Do(workers, func(int) {
		var s rowSorter[V]
		for g := int(next.Add(1)) - 1; g < a.groups; g = int(next.Add(1)) - 1 {
			if a.fill(g, &s) {
				found.Store(true)
			}
		}
	})
	return a.out, found.Load()
}

// cut cuts blocks into pieces.
func (a *assembler[V]) cut(blocks []Triples[V]) {
	for _, b := range blocks {
		for lo := 0; lo < len(b.Row); lo += pieceEntries {
			hi := min(lo+pieceEntries, len(b.Row))
			p := Triples[V]{Row: b.Row[lo:hi], Col: b.Col[lo:hi]}
			if b.Val != nil {
				p.Val = b.Val[lo:hi]
			}
			a.pieces = append(a.pieces, p)
		}
	}
}

func (a *assembler[V]) endsOf(piece int) []uint32 { return a.ends[piece*a.groups:][:a.groups] }

// fill makes the rows of a group, and reports whether a column comes twice in one.
func (a *assembler[V]) fill(group int, s *rowSorter[V]) (twins bool) {
	m := a.out
	lo := group << a.shift
	hi := min(lo+1<<a.shift, m.Rows)
	next := m.RowPtr[1+lo : 1+hi] // next[i] counts row lo+i, then is where its next entry goes
	for p := range a.pieces {
		for _, i := range a.run(p, group).Row {
			next[int(i)-lo]++
		}
	}
	at := a.start[group]
	for i, n := range next {
		next[i] = at
		at += n
	}
	for p := range a.pieces {
		t := a.run(p, group)
		for k, i := range t.Row {
			v := V(1)
			if t.Val != nil {
				v = t.Val[k]
			}
			to := next[int(i)-lo]
			m.ColIdx[to], m.Val[to] = t.Col[k], v
			next[int(i)-lo] = to + 1
		}
	}
	k := a.start[group]
	for _, end := range next {
		if s.sort(m.ColIdx[k:end], m.Val[k:end]) {
			twins = true
		}
		k = end
	}
	return twins
}

// run is what a piece has of a group.
func (a *assembler[V]) run(piece, group int) Triples[V] {
	p, ends, lo := a.pieces[piece], a.endsOf(piece), uint32(0)
	if group > 0 {
		lo = ends[group-1]
	}
	hi := ends[group]
	t := Triples[V]{Row: p.Row[lo:hi], Col: p.Col[lo:hi]}
	if p.Val != nil {
		t.Val = p.Val[lo:hi]
	}
	return t
}

// grouper is memory for a copy of a piece.
type grouper[V Value] struct {
	row, col []int32
	val      []V
	next     []uint32
}

// group moves the triples of a piece group by group, and gives where each group ends.
func (g *grouper[V]) group(t Triples[V], shift uint8, ends []uint32) {
	grouped, last := true, int32(0)
	for _, i := range t.Row {
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
	col := g.col[:len(g.row)]
	if t.Val == nil {
		for k, i := range g.row {
			to := g.next[i>>shift]
			g.next[i>>shift] = to + 1
			t.Row[to], t.Col[to] = i, col[k]
		}
		return
	}
	val := g.val[:len(g.row)]
	for k, i := range g.row {
		to := g.next[i>>shift]
		g.next[i>>shift] = to + 1
		t.Row[to], t.Col[to], t.Val[to] = i, col[k], val[k]
	}
}
