package spgemm

import (
	"math"
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// appearing is a row of a product, with its entries in the order in which their columns appear first.
type appearing[V sparse.Value] struct {
	at   []int32 // of each column: base + its place in cols; less than base if it is not there
	base int32
	n    int     // entries
	cols []int32 // of the entries
	vals []V
}

func newAppearing[V sparse.Value](cols int) appearing[V] {
	return appearing[V]{at: make([]int32, cols), base: 1}
}

// reset empties the row.
func (s *appearing[V]) reset() {
	base := int64(s.base) + int64(s.n)
	if base+int64(len(s.at))-1 > math.MaxInt32 { // a place might overflow
		clear(s.at)
		base = 1
	}
	s.base, s.n = int32(base), 0
}

// add adds row times B.
func (s *appearing[V]) add(row []int32, by []V, b *sparse.CSR[V]) {
	by = by[:len(row)]
	at, base, n := s.at, s.base, s.n
	for i, k := range row {
		from, end := b.RowPtr[k], b.RowPtr[k+1]
		if need := n + int(end-from); need > len(s.cols) {
			s.grow(n, need)
		}
		cols, sums, v := s.cols, s.vals[:len(s.cols)], by[i]
		val := b.Val[from:end]
		for l, c := range b.ColIdx[from:end][:len(val)] {
			p := V(v * val[l])
			if place := at[c] - base; place >= 0 {
				sums[place] += p
				continue
			}
			cols[n], sums[n] = c, p
			at[c] = base + int32(n)
			n++
		}
	}
	s.n = n
}

// grow makes room for need entries, of which n are in use.
func (s *appearing[V]) grow(n, need int) {
	cols, vals := make([]int32, 2*need), make([]V, 2*need)
	copy(cols, s.cols[:n])
	copy(vals, s.vals[:n])
	s.cols, s.vals = cols, vals
}

// fewEntries is the number of entries up to which sorted sorts by insertion.
const fewEntries = 24

// triple is the state of a worker that computes A B P.
type triple[V sparse.Value] struct {
	between, row appearing[V] // a row of A B, and of A B P
	vals         []V          // of a piece
	keys         []uint64     // memory of sorted
}

// sorted appends the entries of row to cols and vals in the order of their columns.
func (t *triple[V]) sorted(cols []int32, vals []V) ([]int32, []V) {
	from, n := len(cols), t.row.n
	cols, vals = append(cols, t.row.cols[:n]...), append(vals, t.row.vals[:n]...)
	c, v := cols[from:], vals[from:]
	v = v[:len(c)]
	if n <= fewEntries {
		for i := 1; i < len(c); i++ {
			col, val, k := c[i], v[i], i
			for ; k > 0 && c[k-1] > col; k-- {
				c[k], v[k] = c[k-1], v[k-1]
			}
			c[k], v[k] = col, val
		}
		return cols, vals
	}
	t.keys = t.keys[:0]
	for i, col := range c {
		t.keys = append(t.keys, uint64(col)<<32|uint64(i))
	}
	slices.Sort(t.keys)
	for i, key := range t.keys {
		c[i], v[i] = int32(key>>32), t.row.vals[uint32(key)]
	}
	return cols, vals
}

// tripleWorkers returns the largest number of workers whose arrays take no more memory than the factors; at least one.
func tripleWorkers[V sparse.Value](a, b, p *sparse.CSR[V]) int {
	return int(max((a.Bytes()+b.Bytes()+p.Bytes())/(4*int64(b.Cols+p.Cols)+1), 1))
}

// tripleRows computes the rows of a piece of A B P. It stores the number of entries of row r in RowPtr[r+1].
func (p *product[V]) tripleRows(w *worker[V], piece int) {
	t := &w.triple
	if t.row.at == nil {
		t.between, t.row = newAppearing[V](p.b.Cols), newAppearing[V](p.p.Cols)
	}
	cols, vals := w.cols[:0], t.vals[:0]
	end := p.cuts[piece+1]
	for r := p.cuts[piece]; r < end; r++ {
		row, by := p.row(r)
		p.load(w, r+1, end, true)
		t.between.reset()
		t.between.add(row, by, p.b)
		t.row.reset()
		t.row.add(t.between.cols[:t.between.n], t.between.vals[:t.between.n], p.p)
		cols, vals = t.sorted(cols, vals)
		p.c.RowPtr[r+1] = int64(t.row.n)
		if !p.count(w, t.row.n) {
			return
		}
	}
	w.cols, t.vals = cols, vals
	p.cols[piece] = append(take(&columns, len(cols)), cols...)
	p.vals[piece] = slices.Clone(vals)
}
