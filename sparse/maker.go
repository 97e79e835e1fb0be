package sparse

import (
	"math/bits"
	"slices"
)

// A group with at most maxBucketed triples is ordered by column, in this number of buckets.
const (
	maxBucketed = 1 << 20
	bucketBits  = 11
	buckets     = 1 << bucketBits
)

// rowBuilder builds the rows of a group of an assembler one after the other, on one
// goroutine.
type rowBuilder[V Value] struct {
	rowSorter[V]
	runs       []Triples[V] // the triples of the group; rows and columns are exchanged for mirrored entries
	mirrored   bool         // runs holds mirrored entries, except for its entries on the diagonal
	ordered    Triples[V]   // memory for runs ordered by column
	next       []int64      // for each row of the group, the index of its next entry
	duplicates bool         // a row holds a column more than once
}

// load sets runs to the triples of a group, or to its mirrored entries. If columns often
// decrease from one piece to the next, it orders the triples by column.
func (m *rowBuilder[V]) load(a *assembler[V], group int, mirrored bool) {
	m.runs, m.mirrored = m.runs[:0], mirrored
	n, decreases := 0, 0
	least, most, last := int32(MaxDim), int32(0), int32(0)
	for p := range a.pieces {
		t := a.run(p, group)
		if len(t.Row) == 0 {
			continue
		}
		if mirrored {
			t.Row, t.Col = t.Col, t.Row
		}
		m.runs = append(m.runs, t)
		n += len(t.Row)
		if t.Col[0] < last {
			decreases++
		}
		last = t.Col[0]
		for k := 0; k < len(t.Col); k += 16 { // one element per cache line
			least, most = min(least, t.Col[k]), max(most, t.Col[k])
		}
	}
	if decreases > len(m.runs)/8 && n <= maxBucketed {
		m.order(n, least, bits.Len32(uint32(most-least))-bucketBits, a.values)
	}
}

// order reorders the n triples of the runs into buckets, as one run. A bucket holds 1 <<
// shift columns; the first bucket begins with column least. The first and the last bucket
// also hold the columns beyond.
func (m *rowBuilder[V]) order(n int, least int32, shift int, values bool) {
	o := &m.ordered
	o.Row, o.Col = slices.Grow(o.Row[:0], n)[:n], slices.Grow(o.Col[:0], n)[:n]
	if values {
		o.Val = slices.Grow(o.Val[:0], n)[:n]
	}
	right := uint(max(shift, 0)) & 31
	bucket := func(c int32) uint32 { return min(uint32(max(c-least, 0))>>right, buckets-1) }
	var next [buckets]uint32
	for _, t := range m.runs {
		for _, c := range t.Col {
			next[bucket(c)]++
		}
	}
	sum := uint32(0)
	for b, n := range next {
		next[b] = sum
		sum += n
	}
	row, col, val := o.Row, o.Col, o.Val
	for _, t := range m.runs {
		from := t.Row[:len(t.Col)]
		for k, c := range t.Col {
			b := bucket(c)
			to := next[b]
			next[b] = to + 1
			row[to], col[to] = from[k], c
			if values {
				val[to] = t.value(k)
			}
		}
	}
	m.runs = append(m.runs[:0], *o)
}

// value returns the value of triple k.
func (t *Triples[V]) value(k int) V {
	if t.Val == nil {
		return 1
	}
	return t.Val[k]
}

// count adds the number of triples of row lo+i to n[i].
func (m *rowBuilder[V]) count(n []int64, lo int) {
	for _, t := range m.runs {
		col := t.Col[:len(t.Row)]
		for k, i := range t.Row {
			if !m.mirrored || i != col[k] {
				n[int(i)-lo]++
			}
		}
	}
}

// store writes the triples to their rows, beginning with row lo. next holds the index of
// each row's next entry. It writes only columns if there are no values.
func (m *rowBuilder[V]) store(a *assembler[V], next []int64, lo int) {
	col, val := a.out.ColIdx, a.out.Val
	for _, t := range m.runs {
		from := t.Col[:len(t.Row)]
		for k, i := range t.Row {
			j := from[k]
			if m.mirrored && i == j {
				continue
			}
			to := next[int(i)-lo]
			next[int(i)-lo] = to + 1
			col[to] = j
			if !a.values {
				continue
			}
			v := t.value(k)
			if m.mirrored {
				v *= a.sign
			}
			val[to] = v
		}
	}
}
