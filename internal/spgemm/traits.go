package spgemm

import (
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// traits is what a pass over the structures of A and B finds before A B is computed.
type traits struct {
	work  []int64 // see Work
	order order   // of B
	moved []bool  // whether the columns of a row of B are those of the row before it plus 1
}

// traitsOf returns the traits of A B.
func traitsOf[V sparse.Value](on On, a, b *sparse.CSR[V]) traits {
	t := traits{work: make([]int64, a.Rows+1), moved: make([]bool, b.Rows)}
	var descends, repeats atomic.Bool
	n := on.workers(a.NNZ() + b.NNZ())
	on.do(n, func(w int) {
		workOf(t.work, a, b, rowCut(a.Rows, n, w), rowCut(a.Rows, n, w+1))
		twice := false
		var before []int32
		if lo := rowCut(b.Rows, n, w); lo > 0 {
			before = b.ColIdx[b.RowPtr[lo-1]:b.RowPtr[lo]]
		}
		end := rowCut(b.Rows, n, w+1)
		for k := rowCut(b.Rows, n, w); k < end; k++ {
			row := b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]]
			t.moved[k] = k > 0 && len(row) == len(before) && isMoved(row, before)
			switch orderOf(row) {
			case unsorted:
				descends.Store(true)
			case sorted:
				twice = true
			}
			before = row
		}
		if twice {
			repeats.Store(true)
		}
	})
	sum(t.work)
	switch {
	case descends.Load():
		t.order = unsorted
	case repeats.Load():
		t.order = sorted
	default:
		t.order = strict
	}
	return t
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
