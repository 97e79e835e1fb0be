package spgemm

import (
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/sparse"
)

// fewEntries is the number of entries up to which sorted sorts by insertion.
const fewEntries = 24

// triple is the state of a worker that computes A B P.
type triple[V sparse.Value] struct {
	between, row appearing[V] // rows of A B, and of A B P
	by           []V          // values of rows of A, as appearing.vals
	vals         []V          // of a piece
	kept         []V          // block of memory for the values of pieces
	keys         []uint64     // memory of sorted
}

// sorted appends the rows of a group to cols and vals, one after the other, in the order of their columns.
func (t *triple[V]) sorted(cols []int32, vals []V) ([]int32, []V) {
	from, n, group := len(cols), t.row.n, t.row.group
	if group > 1 {
		t.sortKeys()
		for j := range group {
			for _, key := range t.keys {
				cols, vals = append(cols, int32(key>>32)), append(vals, t.row.vals[group*int(uint32(key))+j])
			}
		}
		return cols, vals
	}
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
	t.sortKeys()
	for i, key := range t.keys {
		c[i], v[i] = int32(key>>32), t.row.vals[uint32(key)]
	}
	return cols, vals
}

// sortKeys sets keys to the columns of row, sorted, each with its place.
func (t *triple[V]) sortKeys() {
	t.keys = t.keys[:0]
	for i, col := range t.row.cols[:t.row.n] {
		t.keys = append(t.keys, uint64(col)<<32|uint64(i))
	}
	slices.Sort(t.keys)
}

// tripleWorkers returns the largest number of workers whose arrays take no more memory than the factors; at least one.
func tripleWorkers[V sparse.Value](a, b, p *sparse.CSR[V]) int {
	return int(max((a.Bytes()+b.Bytes()+p.Bytes())/(4*int64(b.Cols+p.Cols)+1), 1))
}

// tripleRows computes the rows of a piece of A B P. It stores the number of entries of row r in RowPtr[r+1].
func (p *product[V]) tripleRows(number, piece int) {
	w := p.worker(number)
	t := &w.triple
	if t.row.at == nil {
		t.between, t.row = newAppearing[V](p.b.Cols), newAppearing[V](p.p.Cols)
	}
	cols, vals := w.cols[:0], t.vals[:0]
	end := p.cuts[piece+1]
	for r := p.cuts[piece]; r < end; {
		row, by := p.row(r)
		group := p.alike(r, end)
		if group > 1 {
			by = t.interleave(p, r, group)
		}
		p.load(w, r+group, end, true)
		t.between.reset(group)
		t.between.add(row, by, p.b)
		t.row.reset(group)
		t.row.add(t.between.cols[:t.between.n], t.between.vals, p.p)
		cols, vals = t.sorted(cols, vals)
		for range group {
			r++
			p.c.RowPtr[r] = int64(t.row.n)
			if !p.count(w, t.row.n) {
				return
			}
		}
	}
	w.cols, t.vals = cols, vals
	p.cols[piece] = append(take(&columns, len(cols)), cols...)
	p.vals[piece] = t.keep(vals, p.pieces()/len(p.workers))
}

// mostKept is the largest number of values in a block of memory for pieces.
const mostKept = 1 << 18

// keep returns a copy of vals in a block of memory for about the next pieces.
func (t *triple[V]) keep(vals []V, pieces int) []V {
	n := len(t.kept)
	if n+len(vals) > cap(t.kept) {
		t.kept, n = mem.Uncleared[V](max(min(len(vals)*(pieces+1), mostKept), len(vals)))[:0], 0
	}
	t.kept = append(t.kept, vals...)
	return t.kept[n:len(t.kept):len(t.kept)]
}

// alike returns the number of rows of A from r on that are computed together. They must end before row end, and have the same
// columns.
func (p *product[V]) alike(r, end int) int {
	if r+together > end {
		return 1
	}
	row, _ := p.row(r)
	for i := 1; i < together; i++ {
		if next, _ := p.row(r + i); !slices.Equal(row, next) {
			return 1
		}
	}
	return together
}

// interleave returns the values of rows r to r+group-1 of A, which have the same columns, as appearing.vals.
func (t *triple[V]) interleave(p *product[V], r, group int) []V {
	n := int(p.a.RowPtr[r+1] - p.a.RowPtr[r])
	t.by = slices.Grow(t.by[:0], n*group)[:n*group]
	for j := range group {
		_, by := p.row(r + j)
		for i, v := range by {
			t.by[i*group+j] = v
		}
	}
	return t.by
}
