package spgemm

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// traits is what a pass over the structures of A and B finds before A B is computed.
type traits[V sparse.Value] struct {
	a, b  *sparse.CSR[V]
	count int // of pieces of the pass

	work  []int64 // see Work; before sum, the work of the row before
	order order   // of B
	moved []bool  // whether the columns of a row of B are those of the row before it plus 1; nil if B is not looked at

	descends, repeats atomic.Bool // columns of a row of B
}

// newTraits returns the traits of A B before the pass, which some workers make. It looks at the order of B if ofB is set.
func newTraits[V sparse.Value](a, b *sparse.CSR[V], workers int, ofB bool) *traits[V] {
	t := &traits[V]{a: a, b: b, count: 1, work: make([]int64, a.Rows+1)}
	entries := a.NNZ()
	if ofB {
		entries += b.NNZ()
		t.moved = make([]bool, b.Rows)
	}
	if workers > 1 {
		t.count = int(max(min(int64(workers)*perWorker, entries/minPiece), 1))
	}
	return t
}

// traitsOf returns the traits of A B.
func traitsOf[V sparse.Value](on On, a, b *sparse.CSR[V], ofB bool) *traits[V] {
	n := on.workers(a.NNZ() + b.NNZ())
	t := newTraits(a, b, n, ofB)
	j := newJob(func() error { return nil })
	j.each(t.pieces, t.find)
	on.do(n, j.work)
	t.sum()
	return t
}

// pieces returns the number of pieces of the pass.
func (t *traits[V]) pieces() int { return t.count }

// find is a piece of the pass.
func (t *traits[V]) find(_, piece int) {
	a, b := t.a, t.b
	workOf(t.work, a, b, rowCut(a.Rows, t.count, piece), rowCut(a.Rows, t.count, piece+1))
	if t.moved == nil {
		return
	}
	twice := false
	var before []int32
	lo, end := rowCut(b.Rows, t.count, piece), rowCut(b.Rows, t.count, piece+1)
	if lo > 0 {
		before = b.ColIdx[b.RowPtr[lo-1]:b.RowPtr[lo]]
	}
	for k := lo; k < end; k++ {
		row := b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]]
		t.moved[k] = k > 0 && len(row) == len(before) && isMoved(row, before)
		switch orderOf(row) {
		case unsorted:
			t.descends.Store(true)
		case sorted:
			twice = true
		}
		before = row
	}
	if twice {
		t.repeats.Store(true)
	}
}

// sum ends the pass.
func (t *traits[V]) sum() {
	sum(t.work)
	switch {
	case t.moved == nil || t.descends.Load():
		t.order = unsorted
	case t.repeats.Load():
		t.order = sorted
	default:
		t.order = strict
	}
}

// order is how the columns of the rows of a matrix follow each other.
type order uint8

const (
	unsorted order = iota
	sorted         // they never descend
	strict         // they strictly ascend
)

// orderOf returns the order of the columns of a row.
func orderOf(row []int32) order {
	o := strict
	for i := 1; i < len(row); i++ {
		if row[i] <= row[i-1] {
			if row[i] < row[i-1] {
				return unsorted
			}
			o = sorted
		}
	}
	return o
}

// isMoved reports whether each element of row is that of before plus 1. Their lengths are equal.
func isMoved(row, before []int32) bool {
	before = before[:len(row)]
	for i, c := range row {
		if c != before[i]+1 {
			return false
		}
	}
	return true
}

// workOf stores the work of rows lo to hi-1 of A B in work[lo+1] to work[hi].
func workOf[V sparse.Value](work []int64, a, b *sparse.CSR[V], lo, hi int) {
	for i := lo; i < hi; i++ {
		n := int64(rowWork)
		for _, j := range a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]] {
			n = saturate.Add(n, b.RowPtr[j+1]-b.RowPtr[j])
		}
		work[i+1] = n
	}
}

// sum replaces each element by the sum of all up to it.
func sum(n []int64) {
	for i := 1; i < len(n); i++ {
		n[i] = saturate.Add(n[i-1], n[i])
	}
}
