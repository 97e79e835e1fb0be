package sparse

import (
	"math/bits"
	"slices"
	"sync"
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
	// nearEntries is how many triples lie between two that are near each other, on average.
	nearEntries int64 = 1 << 15
)

// mostGroups bounds them, as each piece has a run for each.
const mostGroups = 1 << 10

// assembler is Assemble for many triples. The rows are cut into groups of successive ones.
// First the triples are cut into pieces, and in each piece they are moved, group by group and
// in their order. Then one goroutine at a time makes the rows of a group: it finds its triples
// in runs, one in each piece, and what it writes stays in the cache, however the triples were
// scattered.
//
// There they are put about in the order of their columns first, if they are not in an order
// already: what is left to sort in rows is little.
//
// Of a symmetric matrix all triples are moved below the diagonal first. They are grouped
// twice: by columns to make the part of each row behind the diagonal, its twins, which wait at
// the end of their group, and then by rows.
type assembler[V Value] struct {
	out    *CSR[V]
	sym    Symmetry
	sign   V    // of an entry over that of its twin
	values bool // if there are none, each is 1
	pieces []Triples[V]
	shift  uint8 // log2 of the rows of a group
	groups int
	ends   []uint32 // of each piece, where its groups end
	start  []int64  // where the entries of each group begin in the result
	twins  []int64  // where its twins begin until they are moved to their rows
	double atomic.Bool
}

// assembleGroups is Assemble, but for the sums of duplicates, which it reports.
func assembleGroups[V Value](rows, cols int, sym Symmetry, blocks []Triples[V], stored int64) (m *CSR[V], double bool) {
	a := assembler[V]{out: &CSR[V]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}, sym: sym, sign: 1}
	if sym == SkewSymmetric {
		a.sign = -1
	}
	all := stored
	if sym != General {
		all *= 2
	}
	groups := min(max(all/groupEntries, 1), mostGroups)
	a.shift = uint8(bits.Len64(uint64(int64(rows-1) / groups)))
	a.groups = (rows-1)>>a.shift + 1
	a.values = slices.ContainsFunc(blocks, func(b Triples[V]) bool { return b.Val != nil })
	a.cut(blocks)
	a.ends = make([]uint32, len(a.pieces)*a.groups)
	workers := par.Workers(stored, 1<<15)
	if sym == General {
		a.groupByRows(workers)
		a.place(a.grouped(), make([]int64, a.groups))
	} else {
		a.place(a.groupByColumns(workers))
		a.eachGroup(workers, a.fillTwins)
		a.groupByRows(workers)
	}
	a.eachGroup(workers, a.fill)
	return a.out, a.double.Load()
}

// cut cuts each block into pieces of the same size.
func (a *assembler[V]) cut(blocks []Triples[V]) {
	for _, b := range blocks {
		n := (len(b.Row) + pieceEntries - 1) / pieceEntries
		for i := range n {
			lo, hi := int(par.Cut(int64(len(b.Row)), n, i)), int(par.Cut(int64(len(b.Row)), n, i+1))
			p := Triples[V]{Row: b.Row[lo:hi], Col: b.Col[lo:hi]}
			if b.Val != nil {
				p.Val = b.Val[lo:hi]
			}
			a.pieces = append(a.pieces, p)
		}
	}
}

func (a *assembler[V]) endsOf(piece int) []uint32 { return a.ends[piece*a.groups:][:a.groups] }

// grouped is how many triples each group has in all pieces.
func (a *assembler[V]) grouped() []int64 {
	n := make([]int64, a.groups)
	for i := range a.pieces {
		first := uint32(0)
		for g, end := range a.endsOf(i) {
			n[g] += int64(end - first)
			first = end
		}
	}
	return n
}

// settle moves the triples of a piece of a symmetric matrix below the diagonal, and counts
// those of each group of rows, and those on the diagonal.
func (a *assembler[V]) settle(t Triples[V], own, diagonal []int64) {
	col := t.Col[:len(t.Row)]
	for k, i := range t.Row {
		j := col[k]
		if i == j {
			diagonal[i>>a.shift]++
		} else if i < j {
			i, j = j, i
			t.Row[k], col[k] = i, j
			if a.sym == SkewSymmetric {
				t.Val[k] *= a.sign // not -Val[k], which would change a NaN
			}
		}
		own[i>>a.shift]++
	}
}

// groupByColumns settles all pieces of a symmetric matrix and groups them by columns. It
// counts the triples of each group of rows, and their twins.
func (a *assembler[V]) groupByColumns(workers int) (own, twins []int64) {
	own, diagonal := make([]int64, a.groups), make([]int64, a.groups)
	var mu sync.Mutex
	par.Do(workers, func(w int) {
		var g grouper[V]
		o, d := make([]int64, a.groups), make([]int64, a.groups)
		for p := w; p < len(a.pieces); p += workers {
			a.settle(a.pieces[p], o, d)
			g.group(a.pieces[p], true, a.shift, a.endsOf(p))
		}
		mu.Lock()
		defer mu.Unlock()
		for g := range o {
			own[g] += o[g]
			diagonal[g] += d[g]
		}
	})
	twins = a.grouped()
	for g, n := range diagonal {
		twins[g] -= n
	}
	return own, twins
}

// groupByRows groups all pieces by rows.
func (a *assembler[V]) groupByRows(workers int) {
	clear(a.ends)
	par.Do(workers, func(w int) {
		var g grouper[V]
		for p := w; p < len(a.pieces); p += workers {
			g.group(a.pieces[p], false, a.shift, a.endsOf(p))
		}
	})
}

// place makes the arrays of the result and gives each group its place in them.
func (a *assembler[V]) place(own, twins []int64) {
	a.start, a.twins = make([]int64, a.groups), own
	var at int64
	for g, n := range own {
		a.start[g], a.twins[g] = at, at+n
		at += n + twins[g]
	}
	a.out.ColIdx, a.out.Val = make([]int32, at), make([]V, at)
}

// eachGroup calls f for every group.
func (a *assembler[V]) eachGroup(workers int, f func(group int, m *maker[V])) {
	var next atomic.Int64
	par.Do(workers, func(int) {
		var m maker[V]
		for g := int(next.Add(1)) - 1; g < a.groups; g = int(next.Add(1)) - 1 {
			f(g, &m)
		}
		if m.double {
			a.double.Store(true)
		}
	})
}

// rows is the rows [lo, hi) of a group.
func (a *assembler[V]) rows(group int) (lo, hi int) {
	lo = group << a.shift
	return lo, min(lo+1<<a.shift, a.out.Rows)
}

// fillTwins makes the twins of a group, row after row. The row pointers say where those of
// each row end.
func (a *assembler[V]) fillTwins(group int, m *maker[V]) {
	lo, hi := a.rows(group)
	m.take(a, group, true)
	next := a.out.RowPtr[1+lo : 1+hi] // counts, then is where the next twin goes
	m.count(next, lo)
	at := a.twins[group]
	for i, n := range next {
		next[i] = at
		at += n
	}
	m.put(a, next, lo)
}

// fill makes the rows of a group. Its twins are moved down to where they stay, which never
// is behind where they are, and leave room for the other entries.
func (a *assembler[V]) fill(group int, m *maker[V]) {
	lo, hi := a.rows(group)
	m.take(a, group, false)
	m.next = append(m.next[:0], make([]int64, hi-lo)...)
	next, ends := m.next, a.out.RowPtr[1+lo:1+hi]
	m.count(next, lo)
	col, val := a.out.ColIdx, a.out.Val
	begin, twin := a.start[group], a.twins[group]
	at := begin
	for i, n := range next {
		next[i] = at
		at += n
		if a.sym != General {
			end := ends[i]
			copy(col[at:], col[twin:end])
			if a.values {
				copy(val[at:], val[twin:end])
			}
			at += end - twin
			twin = end
		}
		ends[i] = at
	}
	m.put(a, next, lo)
	if !a.values {
		ones := val[begin:at]
		for k := range ones {
			ones[k] = 1
		}
	}
	for _, end := range ends {
		if m.sort(col[begin:end], val[begin:end]) {
			m.double = true
		}
		begin = end
	}
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
