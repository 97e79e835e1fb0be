package sparse

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/par"
)

// Variables because tests replace them.
var (
	// groupFrom is the least number of triples that are grouped: fewer stay in the caches.
	groupFrom int64 = 1 << 18
	// pieceEntries is the number of triples that are grouped at a time, within the
	// second-level cache.
	pieceEntries = 1 << 16
	// groupEntries is about the number of triples in a group: the entries that they
	// become stay in the second-level cache.
	groupEntries int64 = 1 << 14
	// nearEntries is the average number of triples between two triples up to which they
	// count as near each other.
	nearEntries int64 = 1 << 15
)

// maxGroups limits the groups, because each piece has a run for each group.
const maxGroups = 1 << 10

// assembler is Assemble for many triples. It divides the rows into groups of consecutive
// rows. It first divides the triples into pieces and reorders each piece by group,
// stably. Then one goroutine builds the rows of each group: it reads the triples of the
// group in runs, one from each piece. All its writes stay in the cache, however scattered
// the triples were.
//
// Before that it moves the triples of a group roughly into the order of their columns,
// unless they are ordered already. Little is then left to sort within rows.
//
// For a symmetric matrix, assembler first exchanges the row and the column of each triple
// above the diagonal. It groups the triples twice: first by column, to build the part of
// each row above the diagonal from the mirrored entries, which it stores at the end of
// their group; then by row.
type assembler[V Value] struct {
	out        *CSR[V]
	sym        Symmetry
	sign       V    // mirrored value over stored value: 1 or -1
	values     bool // any chunk has values; if none has, every value is 1
	pieces     []Triples[V]
	shift      uint8 // log2 of the number of rows of a group
	groups     int
	ends       []uint32 // for each piece, the ends of its groups
	start      []int64  // index of each group's first entry in the result
	mirrored   []int64  // index of each group's first mirrored entry before fill moves these to their rows
	duplicates atomic.Bool
}

// assembleGroups is Assemble except that it does not add duplicates; it reports whether
// there are any.
func assembleGroups[V Value](rows, cols int, sym Symmetry, chunks []Triples[V], stored int64) (m *CSR[V], duplicates bool) {
	a := assembler[V]{out: &CSR[V]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}, sym: sym, sign: 1}
	if sym == SkewSymmetric {
		a.sign = -1
	}
	all := stored
	if sym != General {
		all *= 2
	}
	groups := min(max(all/groupEntries, 1), maxGroups)
	a.shift = uint8(bits.Len64(uint64(int64(rows-1) / groups)))
	a.groups = (rows-1)>>a.shift + 1
	a.values = slices.ContainsFunc(chunks, func(b Triples[V]) bool { return b.Val != nil })
	a.cut(chunks)
	a.ends = make([]uint32, len(a.pieces)*a.groups)
	workers := par.Workers(stored, 1<<15)
	if sym == General {
		a.groupByRows(workers)
		a.place(a.grouped(), make([]int64, a.groups))
	} else {
		a.place(a.groupByColumns(workers))
		a.eachGroup(workers, a.fillMirrored)
		a.groupByRows(workers)
	}
	a.eachGroup(workers, a.fill)
	return a.out, a.duplicates.Load()
}

// cut divides each chunk into pieces of about equal size.
func (a *assembler[V]) cut(chunks []Triples[V]) {
	for _, b := range chunks {
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

// grouped returns the number of triples of each group in all pieces.
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

// mirror exchanges the row and the column of each triple above the diagonal, for a piece
// of a symmetric matrix. It adds to own the number of triples of each group of rows, and
// to diagonal the number of those on the diagonal.
func (a *assembler[V]) mirror(t Triples[V], own, diagonal []int64) {
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

// groupByColumns mirrors all pieces of a symmetric matrix and groups them by column. It
// returns the numbers of triples and of mirrored entries of each group of rows.
func (a *assembler[V]) groupByColumns(workers int) (own, mirrored []int64) {
	own, diagonal := make([]int64, a.groups), make([]int64, a.groups)
	var mu sync.Mutex
	par.Do(workers, func(w int) {
		var g grouper[V]
		o, d := make([]int64, a.groups), make([]int64, a.groups)
		for p := w; p < len(a.pieces); p += workers {
			a.mirror(a.pieces[p], o, d)
			g.group(a.pieces[p], true, a.shift, a.endsOf(p))
		}
		mu.Lock()
		defer mu.Unlock()
		for g := range o {
			own[g] += o[g]
			diagonal[g] += d[g]
		}
	})
	mirrored = a.grouped()
	for g, n := range diagonal {
		mirrored[g] -= n
	}
	return own, mirrored
}

// groupByRows groups all pieces by row.
func (a *assembler[V]) groupByRows(workers int) {
	clear(a.ends)
	par.Do(workers, func(w int) {
		var g grouper[V]
		for p := w; p < len(a.pieces); p += workers {
			g.group(a.pieces[p], false, a.shift, a.endsOf(p))
		}
	})
}

// place allocates the arrays of the result and assigns each group its range of them.
func (a *assembler[V]) place(own, mirrored []int64) {
	a.start, a.mirrored = make([]int64, a.groups), own
	var at int64
	for g, n := range own {
		a.start[g], a.mirrored[g] = at, at+n
		at += n + mirrored[g]
	}
	a.out.ColIdx, a.out.Val = make([]int32, at), make([]V, at)
}

// eachGroup calls f for every group.
func (a *assembler[V]) eachGroup(workers int, f func(group int, m *rowBuilder[V])) {
	var next atomic.Int64
	par.Do(workers, func(int) {
		var m rowBuilder[V]
		for g := int(next.Add(1)) - 1; g < a.groups; g = int(next.Add(1)) - 1 {
			f(g, &m)
		}
		if m.duplicates {
			a.duplicates.Store(true)
		}
	})
}

// rows returns the range [lo, hi) of the rows of a group.
func (a *assembler[V]) rows(group int) (lo, hi int) {
	lo = group << a.shift
	return lo, min(lo+1<<a.shift, a.out.Rows)
}

// fillMirrored writes the mirrored entries of a group, row by row, and stores the end of
// each row's mirrored entries in the row pointers.
func (a *assembler[V]) fillMirrored(group int, m *rowBuilder[V]) {
	lo, hi := a.rows(group)
	m.load(a, group, true)
	next := a.out.RowPtr[1+lo : 1+hi] // counts, then the index of each row's next mirrored entry
	m.count(next, lo)
	at := a.mirrored[group]
	for i, n := range next {
		next[i] = at
		at += n
	}
	m.store(a, next, lo)
}

// fill writes the rows of a group. It moves the mirrored entries down to their final
// places, which are never above their current ones, and leaves room for the other
// entries.
func (a *assembler[V]) fill(group int, m *rowBuilder[V]) {
	lo, hi := a.rows(group)
	m.load(a, group, false)
	m.next = append(m.next[:0], make([]int64, hi-lo)...)
	next, ends := m.next, a.out.RowPtr[1+lo:1+hi]
	m.count(next, lo)
	col, val := a.out.ColIdx, a.out.Val
	begin, mirroredAt := a.start[group], a.mirrored[group]
	at := begin
	for i, n := range next {
		next[i] = at
		at += n
		if a.sym != General {
			end := ends[i]
			copy(col[at:], col[mirroredAt:end])
			if a.values {
				copy(val[at:], val[mirroredAt:end])
			}
			at += end - mirroredAt
			mirroredAt = end
		}
		ends[i] = at
	}
	m.store(a, next, lo)
	if !a.values {
		ones := val[begin:at]
		for k := range ones {
			ones[k] = 1
		}
	}
	for _, end := range ends {
		if m.sort(col[begin:end], val[begin:end]) {
			m.duplicates = true
		}
		begin = end
	}
}

// run returns the triples of a piece that belong to a group.
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
