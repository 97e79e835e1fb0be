package spgemm

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// together is the number of rows of a product with the same columns that are computed together.
const together = 3

// appearing is a group of rows of a product with the same columns, in the order in which the columns appear first. Rows of
// the unknowns of one node have the same columns; computed together they share the search for the place of a column.
type appearing[V sparse.Value] struct {
	at    []int32 // of each column: base + its place in cols; less than base if it is not there
	base  int32
	group int     // rows: 1 or together
	n     int     // columns
	cols  []int32 // at least n elements
	vals  []V     // row j has vals[group*i+j] in cols[i]
}

func newAppearing[V sparse.Value](cols int) appearing[V] {
	return appearing[V]{at: make([]int32, cols), base: 1}
}

// reset begins a group of rows.
func (s *appearing[V]) reset(group int) {
	base := int64(s.base) + int64(s.n)
	if base+int64(len(s.at))-1 > math.MaxInt32 { // a place might overflow
		clear(s.at)
		base = 1
	}
	s.base, s.n, s.group = int32(base), 0, group
}

// add adds the product of B and the rows whose columns are row. by has their values, as vals does.
func (s *appearing[V]) add(row []int32, by []V, b *sparse.CSR[V]) {
	if s.group == 1 {
		s.add1(row, by, b)
		return
	}
	s.add3(row, by, b)
}

// add1 is add for one row.
func (s *appearing[V]) add1(row []int32, by []V, b *sparse.CSR[V]) {
	by = by[:len(row)]
	at, base, n := s.at, s.base, s.n
	cols := s.cols
	sums := s.vals[:len(cols)]
	for i, k := range row {
		from, end := b.RowPtr[k], b.RowPtr[k+1]
		if need := n + int(end-from); need > len(cols) {
			s.reserve(n, need)
			cols, sums = s.cols, s.vals[:len(s.cols)]
		}
		val, v := b.Val[from:end], by[i]
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

// add3 is add for together rows.
func (s *appearing[V]) add3(row []int32, by []V, b *sparse.CSR[V]) {
	at, base, n := s.at, s.base, s.n
	cols, sums := s.cols, s.vals
	for i, k := range row {
		from, end := b.RowPtr[k], b.RowPtr[k+1]
		if need := n + int(end-from); need > len(cols) || together*need > len(sums) {
			s.reserve(n, need)
			cols, sums = s.cols, s.vals
		}
		val, v := b.Val[from:end], [together]V(by[together*i:])
		for l, c := range b.ColIdx[from:end][:len(val)] {
			x := val[l]
			place := at[c] - base
			if place < 0 {
				cols[n], at[c] = c, base+int32(n)
				sum := (*[together]V)(sums[together*n:])
				sum[0], sum[1], sum[2] = v[0]*x, v[1]*x, v[2]*x
				n++
				continue
			}
			sum := (*[together]V)(sums[together*place:])
			sum[0] += V(v[0] * x)
			sum[1] += V(v[1] * x)
			sum[2] += V(v[2] * x)
		}
	}
	s.n = n
}

// reserve makes room for need columns, of which n are in use.
func (s *appearing[V]) reserve(n, need int) {
	cols, vals := make([]int32, 2*need), make([]V, 2*need*s.group)
	copy(cols, s.cols[:n])
	copy(vals, s.vals[:n*s.group])
	s.cols, s.vals = cols, vals
}
