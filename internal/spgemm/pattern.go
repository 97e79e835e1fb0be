package spgemm

import (
	"slices"
	"time"

	"github.com/msrep-go/msrep/sparse"
)

// Pattern is the structure of C = A B: row i of C has the columns ColIdx[k] for RowPtr[i] <= k < RowPtr[i+1]. It must not be
// changed.
type Pattern struct {
	Rows, Cols int
	RowPtr     []int64
	ColIdx     []int32

	cuts       []int   // as product.cuts
	order      order   // of the rows of B
	aPtr, bPtr []int64 // the structures of A and B
	aIdx, bIdx []int32
	work       int64 // of all rows; see Work
}

// Symbolic returns the structure of A B. The pattern keeps the structure arrays of A and B, which must not change.
func Symbolic[V sparse.Value](a, b *sparse.CSR[V], run Run) (*Pattern, error) {
	if err := fit("A", a, "B", b); err != nil {
		return nil, err
	}
	on := On{Run: run}
	c, err := compute(on, a, b, nil, false)
	if err != nil {
		return nil, err
	}
	return PatternOf(on, a, b, c), nil
}

// PatternOf returns the structure of A B from c = A B, which Multiply returned. It shares the arrays of c.
func PatternOf[V sparse.Value](on On, a, b, c *sparse.CSR[V]) *Pattern {
	t := traitsOf(on, a, b, true)
	all := t.work[a.Rows]
	return &Pattern{Rows: c.Rows, Cols: c.Cols, RowPtr: c.RowPtr, ColIdx: c.ColIdx,
		cuts: cut(t.work, on.workers(all)), order: t.order, aPtr: a.RowPtr, aIdx: a.ColIdx, bPtr: b.RowPtr, bIdx: b.ColIdx, work: all}
}

// Numeric computes the values of A B in val, one for each element of p.ColIdx. It fails with a *sparse.InputError if A and B
// do not have the structure for which the pattern was made.
func Numeric[V sparse.Value](p *Pattern, a, b *sparse.CSR[V], val []V, run Run) error {
	return NumericOn(On{Run: run}, p, a, b, val)
}

// NumericOn is Numeric. If the context ends it returns its error, and val is unspecified.
func NumericOn[V sparse.Value](on On, p *Pattern, a, b *sparse.CSR[V], val []V) error {
	if err := fit("A", a, "B", b); err != nil {
		return err
	}
	switch {
	case !equal(a.RowPtr, p.aPtr) || !equal(a.ColIdx, p.aIdx):
		return sparse.Inputf("A", "does not have the structure of the first A")
	case !equal(b.RowPtr, p.bPtr) || !equal(b.ColIdx, p.bIdx) || b.Cols != p.Cols:
		return sparse.Inputf("B", "does not have the structure of the first B")
	case len(val) != len(p.ColIdx):
		return sparse.Inputf("val", "%d elements; the product has %d entries", len(val), len(p.ColIdx))
	}
	begin := time.Now()
	n := min(on.workers(p.work), len(p.cuts)-1)
	isWide := wide(a, b, n, p.work)
	j := newJob(on.ended)
	workers := make([]worker[V], n)
	j.each(func() int { return len(p.cuts) - 1 }, func(number, i int) {
		acc := workers[number].multiply(b, p.order, isWide)
		for r := p.cuts[i]; r < p.cuts[i+1]; r++ {
			lo, hi := p.RowPtr[r], p.RowPtr[r+1]
			first, end := a.RowPtr[r], a.RowPtr[r+1]
			if r+1 < p.cuts[i+1] {
				acc.load(a.ColIdx[end:a.RowPtr[r+2]], true)
			}
			acc.gather(a.ColIdx[first:end], a.Val[first:end], p.ColIdx[lo:hi], val[lo:hi])
		}
	})
	on.do(n, func(i int) {
		j.work(i)
		workers[i].release()
	})
	on.took(&begin, func(t *Timing) *time.Duration { return &t.Compute })
	return on.ended()
}

// equal reports whether two slices are the same or have the same elements.
func equal[T int32 | int64](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}
