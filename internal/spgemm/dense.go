package spgemm

import (
	"math"
	"math/bits"

	"github.com/msrep-go/msrep/sparse"
)

// dense is an accumulator with an element and a bit for each column. Between rows, each sum is -0 and each bit 0: -0 + p is
// p for each p, also for p = -0.
//
// Set bits are visited in order, so columns need no sorting. The methods for near rows visit each word of set between the
// first and the last column; the others visit only those that words names.
type dense[V sparse.Value] struct {
	sums  []V
	set   []uint64 // a bit for each column with a product
	words []uint64 // a bit for each element of set that is not 0
	used  []int32  // for markScattered: indices of elements of set
}

// near reports whether set has so few elements between the first and the last column that words costs more than it saves.
func (z size) near() bool { return int64(z.hi>>6-z.lo>>6) <= z.products/2+2 }

// scattered reports whether successive columns of the rows of B are mostly in different elements of set. rows is their number.
func (z size) scattered(rows int) bool {
	return int64(z.hi-z.lo)*int64(rows) > 64*z.products
}

// grow makes room for rows of cols columns.
func (d *dense[V]) grow(cols int) {
	if cols <= len(d.sums) {
		return
	}
	d.sums = make([]V, cols)
	zero := V(math.Copysign(0, -1))
	for i := range d.sums {
		d.sums[i] = zero
	}
	const line = 8 // elements in a cache line: the arrays of two workers share none
	n := (cols + 63) / 64
	d.set = make([]uint64, n+2*line)[line : n+line]
	d.words = make([]uint64, (n+63)/64+2*line)[line:]
}

// mark sets the bits of the columns of a row of A times B. It collects the bits of successive columns in a register, because
// each write of an element of set depends on the one before.
func (d *dense[V]) mark(b *sparse.CSR[V], row []int32) {
	set, words := d.set, d.words
	for _, k := range row {
		cols := b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]]
		if len(cols) == 0 {
			continue
		}
		at, m := uint32(cols[0])>>6, uint64(0)
		for _, c := range cols {
			u := uint32(c)
			if u>>6 != at {
				set[at] |= m
				words[at>>6] |= 1 << (at & 63)
				at, m = u>>6, 0
			}
			m |= 1 << (u & 63)
		}
		set[at] |= m
		words[at>>6] |= 1 << (at & 63)
	}
}

// markScattered sets the bits of columns that are mostly in different elements of set. It has no branch that depends on the
// columns. It lists the elements that were 0 in used, and returns their number.
func (d *dense[V]) markScattered(b *sparse.CSR[V], row []int32, products int64) int {
	if need := min(products, int64(len(d.set))) + 1; int64(len(d.used)) < need {
		d.used = make([]int32, max(need, 2*int64(len(d.used))))
	}
	set, used, ptr, idx := d.set, d.used, b.RowPtr, b.ColIdx
	n := 0
	for _, k := range row {
		for l, end := ptr[k], ptr[k+1]; l < end; l++ {
			u := uint32(idx[l])
			x := set[u>>6]
			set[u>>6] = x | 1<<(u&63)
			used[n] = int32(u >> 6)
			next := n + 1
			if x != 0 {
				next = n
			}
			n = next
		}
	}
	return n
}

// fewWords is the number of elements of set up to which columnsScattered sorts them by insertion.
const fewWords = 16

// columnsScattered is columns after markScattered, which has returned n.
func (d *dense[V]) columnsScattered(z size, n int, cols []int32) int {
	used := d.used[:n]
	if n > fewWords {
		for _, at := range used {
			d.words[at>>6] |= 1 << (at & 63)
		}
		return d.columns(z, cols)
	}
	for i := 1; i < len(used); i++ {
		at, k := used[i], i
		for ; k > 0 && used[k-1] > at; k-- {
			used[k] = used[k-1]
		}
		used[k] = at
	}
	count := 0
	for _, at := range used {
		x := d.set[at]
		d.set[at] = 0
		for first := at << 6; x != 0; x &= x - 1 {
			cols[count] = first + int32(bits.TrailingZeros64(x))
			count++
		}
	}
	return count
}

// markNear is mark without words.
func (d *dense[V]) markNear(b *sparse.CSR[V], row []int32) {
	set := d.set
	for _, k := range row {
		cols := b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]]
		if len(cols) == 0 {
			continue
		}
		at, m := uint32(cols[0])>>6, uint64(0)
		for _, c := range cols {
			u := uint32(c)
			if u>>6 != at {
				set[at] |= m
				at, m = u>>6, 0
			}
			m |= 1 << (u & 63)
		}
		set[at] |= m
	}
}

// columns moves the marked columns to cols and returns their number.
func (d *dense[V]) columns(z size, cols []int32) (n int) {
	for w := z.lo >> 12; w <= z.hi>>12; w++ {
		for m := d.words[w]; m != 0; m &= m - 1 {
			s := w<<6 + int32(bits.TrailingZeros64(m))
			x := d.set[s]
			d.set[s] = 0
			n += unpack(x, s<<6, cols[n:])
		}
		d.words[w] = 0
	}
	return n
}

// columnsNear is columns without words.
func (d *dense[V]) columnsNear(z size, cols []int32) (n int) {
	first := z.lo >> 6
	set := d.set[first : z.hi>>6+1]
	for i, x := range set {
		if x != 0 {
			set[i] = 0
			n += unpack(x, (first+int32(i))<<6, cols[n:])
		}
	}
	return n
}

// unpack stores first + i for each bit i of x that is set, and returns their number.
func unpack(x uint64, first int32, cols []int32) int {
	n := bits.OnesCount64(x)
	cols = cols[:n]
	for i := range cols {
		cols[i] = first + int32(bits.TrailingZeros64(x))
		x &= x - 1
	}
	return n
}

// shortRow is the length of rows of B below which gather takes them element by element.
const shortRow = 12

// gather computes the values of a row of A B whose columns are cols.
func (d *dense[V]) gather(b *sparse.CSR[V], row []int32, by []V, cols []int32, vals []V) {
	sums, zero := d.sums, V(math.Copysign(0, -1))
	by = by[:len(row)]
	ptr, idx, val := b.RowPtr, b.ColIdx, b.Val
	for i, k := range row {
		v := by[i]
		first, end := ptr[k], ptr[k+1]
		if end-first < shortRow { // slices cost more than checks of indices
			for l := first; l < end; l++ {
				sums[uint32(idx[l])] += V(v * val[l])
			}
			continue
		}
		x := val[first:end]
		for l, c := range idx[first:end][:len(x)] {
			sums[uint32(c)] += V(v * x[l])
		}
	}
	vals = vals[:len(cols)]
	for n, c := range cols {
		u := uint32(c)
		vals[n] = sums[u]
		sums[u] = zero
	}
}
