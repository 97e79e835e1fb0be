package sparse

import (
	"math/bits"
	"slices"
)

// A group with at most mostOrdered triples is put in the order of columns, by so many buckets.
const (
	mostOrdered = 1 << 20
	bucketBits  = 11
	buckets     = 1 << bucketBits
)

// maker makes the rows of one group of an assembler after the other, on one goroutine.
type maker[V Value] struct {
	rowSorter[V]
	runs    []Triples[V] // the triples of the group; for twins with rows and columns exchanged
	twins   bool         // they are twins: what is on the diagonal has none
	ordered Triples[V]   // memory for them
	next    []int64      // of each row of the group, where its next entry goes
	double  bool         // a column came twice in a row
}

// take takes the triples of a group, or their twins. Where their columns fall from piece to
// piece they are put about in the order of columns.
func (m *maker[V]) take(a *assembler[V], group int, twins bool) {
	m.runs, m.twins = m.runs[:0], twins
	n, falls := 0, 0
	least, most, last := int32(MaxDim), int32(0), int32(0)
	for p := range a.pieces {
		t := a.run(p, group)
		if len(t.Row) == 0 {
			continue
		}
		if twins {
			t.Row, t.Col = t.Col, t.Row
		}
		m.runs = append(m.runs, t)
		n += len(t.Row)
		if t.Col[0] < last {
			falls++
		}
		last = t.Col[0]
		for k := 0; k < len(t.Col); k += 16 { // each line of the cache
			least, most = min(least, t.Col[k]), max(most, t.Col[k])
		}
	}
	if falls > len(m.runs)/8 && n <= mostOrdered {
		m.order(n, least, bits.Len32(uint32(most-least))-bucketBits, a.values)
	}
}

// order puts the n triples of the runs into buckets, as one run. A bucket is 1 << shift columns
// from least on; the first and the last one take what lies beyond.
func (m *maker[V]) order(n int, least int32, shift int, values bool) {
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

// value is the value of triple k.
func (t *Triples[V]) value(k int) V {
	if t.Val == nil {
		return 1
	}
	return t.Val[k]
}

// count adds the triples of each row to n, from row lo on.
func (m *maker[V]) count(n []int64, lo int) {
	for _, t := range m.runs {
		col := t.Col[:len(t.Row)]
		for k, i := range t.Row {
			if !m.twins || i != col[k] {
				n[int(i)-lo]++
			}
		}
	}
}

// put moves the triples to their rows, from row lo on: next is where the next one of each goes.
// Without values only columns are.
func (m *maker[V]) put(a *assembler[V], next []int64, lo int) {
	col, val := a.out.ColIdx, a.out.Val
	for _, t := range m.runs {
		from := t.Col[:len(t.Row)]
		for k, i := range t.Row {
			j := from[k]
			if m.twins && i == j {
				continue
			}
			to := next[int(i)-lo]
			next[int(i)-lo] = to + 1
			col[to] = j
			if !a.values {
				continue
			}
			v := t.value(k)
			if m.twins {
				v *= a.sign
			}
			val[to] = v
		}
	}
}
