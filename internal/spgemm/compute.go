package spgemm

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// product is the computation of a product of several factors, from left to right.
type product[V sparse.Value] struct {
	on      On
	factors []*sparse.CSR[V]
	order   []order               // of the rows of each factor
	wide    []bool                // for each factor; see accumulator
	cuts    []int                 // first row of each piece, then the number of rows
	moved   []bool                // of movedRows for B in a product A B
	cols    [][]int32             // the columns of the rows of each piece, until fill has moved them to c
	vals    [][]V                 // their values, where structure computes them too; see atOnce
	found   atomic.Int64          // entries of C that structure has counted
	each    int64                 // bytes of an entry of C
	refused atomic.Pointer[error] // C does not fit into memory
	c       *sparse.CSR[V]
}

// compute returns the product of several matrices whose shapes match: it finds the columns of each row, then computes the
// values in place. Without values, the product has columns only.
func compute[V sparse.Value](on On, factors []*sparse.CSR[V], values bool) (*sparse.CSR[V], error) {
	begin := time.Now()
	if err := on.ended(); err != nil {
		return nil, err
	}
	rows, last := factors[0].Rows, factors[len(factors)-1]
	ptr := Work(on, factors[0], factors[1])
	n := on.workers(ptr[rows])
	p := &product[V]{on: on, factors: factors, cuts: cut(ptr, n), c: &sparse.CSR[V]{Rows: rows, Cols: last.Cols, RowPtr: ptr}}
	n = min(n, len(p.cuts)-1)
	p.wide, p.order = make([]bool, len(factors)), make([]order, len(factors))
	for i, f := range factors[1:] {
		p.order[i+1] = orderOf(on, f)
		p.wide[i+1] = wide(factors, i+1, n, ptr[rows])
	}
	if len(factors) == 2 {
		p.moved = movedRows(on, last)
	}
	p.cols = make([][]int32, len(p.cuts)-1)
	if values && len(factors) > 2 {
		p.vals = make([][]V, len(p.cuts)-1)
	}
	if p.each = 4; values {
		p.each += mem.Size[V]()
	}
	clear(ptr)
	on.took(&begin, func(t *Timing) *time.Duration { return &t.Analyze })
	if err := p.run(n, p.structure); err != nil {
		return nil, err
	}
	for i := range rows {
		ptr[i+1] += ptr[i]
	}
	on.took(&begin, func(t *Timing) *time.Duration { return &t.Structure })
	nnz := ptr[rows]
	if err := p.fits(nnz, ""); err != nil {
		return nil, err
	}
	p.c.ColIdx = make([]int32, nnz)
	if values {
		p.c.Val = make([]V, nnz)
	}
	if err := p.run(n, p.fill); err != nil {
		return nil, err
	}
	on.took(&begin, func(t *Timing) *time.Duration { return &t.Compute })
	return p.c, nil
}

// fits returns an error if n entries of C do not fit into memory. atLeast precedes their number in the error.
func (p *product[V]) fits(n int64, atLeast string) error {
	need := saturate.Mul(n, p.each)
	if have, ok := mem.Fits(need); !ok {
		return sparse.Inputf("product", "%s%d entries take %d bytes of memory, %d are available", atLeast, n, need, have)
	}
	return nil
}

// checkedEntries is the number of entries that a worker finds between two checks of the memory.
const checkedEntries = 1 << 20

// count adds n entries of C that a worker has found, and refuses the product once those of all workers do not fit into memory. It
// returns 0.
func (p *product[V]) count(n int) int {
	if err := p.fits(p.found.Add(int64(n)), "at least "); err != nil {
		p.refused.CompareAndSwap(nil, &err)
	}
	return 0
}

// ended returns the error with which the computation ends early: the product does not fit into memory, or the context ended.
func (p *product[V]) ended() error {
	if err := p.refused.Load(); err != nil {
		return *err
	}
	return p.on.ended()
}

// run calls f for each piece on n workers, and returns the error of ended.
func (p *product[V]) run(n int, f func(w *worker[V], piece int)) error {
	var next atomic.Int64
	p.on.do(n, func(int) {
		w := &worker[V]{cols: take(&pieces, 0), acc: make([]accumulator[V], len(p.factors)), between: make([]rowBuffer[V], len(p.factors))}
		for i := range w.acc {
			w.acc[i] = newAccumulator(p.factors[i], p.order[i], p.wide[i])
		}
		for i := int(next.Add(1)) - 1; i < len(p.cuts)-1 && p.ended() == nil; i = int(next.Add(1)) - 1 {
			f(w, i)
		}
		for i := range w.acc {
			w.acc[i].release()
		}
		if cap(w.cols) <= smallPiece {
			pieces.Put(&w.cols)
		}
	})
	return p.ended()
}

// worker is the state of one worker.
type worker[V sparse.Value] struct {
	acc     []accumulator[V] // for each factor; the first is not used
	between []rowBuffer[V]   // for each factor: a row of the product of the factors up to it
	cols    []int32          // the columns of a piece
	vals    []V              // its values; see atOnce

	uncounted int // entries since the last check of the memory

	_ [64]byte // no worker writes to a cache line that another one reads
}

// rowBuffer is memory for a row.
type rowBuffer[V sparse.Value] struct {
	cols []int32
	vals []V
}

// row returns the columns of a row of the first factor.
func (p *product[V]) row(r int) []int32 {
	a := p.factors[0]
	return a.ColIdx[a.RowPtr[r]:a.RowPtr[r+1]]
}

// left returns row r of the product of all factors but the last. by is only computed if values is set.
func (p *product[V]) left(w *worker[V], r int, values bool) (row []int32, by []V) {
	a := p.factors[0]
	row, by = a.ColIdx[a.RowPtr[r]:a.RowPtr[r+1]], a.Val[a.RowPtr[r]:a.RowPtr[r+1]]
	for f := 1; f < len(p.factors)-1; f++ {
		s := w.acc[f].bound(row)
		t := &w.between[f]
		if room := min(s.products, int64(p.factors[f].Cols)); room > int64(len(t.cols)) {
			t.cols, t.vals = make([]int32, 2*room), make([]V, 2*room)
		}
		n := w.acc[f].columns(row, s, t.cols)
		if values {
			w.acc[f].gather(row, by, t.cols[:n], t.vals[:n])
		}
		row, by = t.cols[:n], t.vals[:n]
	}
	return row, by
}

// structure finds the columns of the rows of a piece, and stores their number for row r in RowPtr[r+1].
func (p *product[V]) structure(w *worker[V], piece int) {
	last := &w.acc[len(w.acc)-1]
	cols, vals, uncounted := w.cols[:0], w.vals[:0], w.uncounted
	var before []int32 // row of A before this one
	n := 0             // its columns of C are the last n of cols
	for r := p.cuts[piece]; r < p.cuts[piece+1]; r++ {
		row, by := p.left(w, r, p.atOnce())
		if len(p.factors) == 2 && r+1 < p.cuts[piece+1] {
			last.load(p.row(r+1), false)
		}
		if step, ok := p.follows(row, before); ok {
			cols = slices.Grow(cols, n)
			for _, c := range cols[len(cols)-n:] {
				cols = append(cols, c+step)
			}
		} else {
			s := last.bound(row)
			at := len(cols)
			cols = slices.Grow(cols, int(min(s.products, int64(p.c.Cols))))
			n = last.columns(row, s, cols[at:cap(cols)])
			cols = cols[:at+n]
			if p.atOnce() {
				vals = slices.Grow(vals, n)[:at+n]
				last.gather(row, by, cols[at:], vals[at:])
			}
		}
		before = row
		p.c.RowPtr[r+1] = int64(n)
		if uncounted += n; uncounted >= checkedEntries {
			if uncounted = p.count(uncounted); p.refused.Load() != nil {
				return
			}
		}
	}
	w.cols, w.vals, w.uncounted = cols, vals, uncounted
	p.cols[piece] = append(take(&columns, len(cols)), cols...)
	if p.atOnce() {
		p.vals[piece] = slices.Clone(vals)
	}
}

// atOnce reports whether structure also computes the values. It does for three factors: otherwise each row of R A would be
// computed twice.
func (p *product[V]) atOnce() bool { return p.vals != nil }

// These pools keep memory for later products: small products would otherwise spend much of their time in garbage collection.
var (
	columns sync.Pool // the columns of finished pieces, up to smallPiece
	pieces  sync.Pool // worker.cols
)

const smallPiece = 1 << 17

// take returns an empty slice from a pool with room for n elements, or a new one.
func take(from *sync.Pool, n int) []int32 {
	if kept, ok := from.Get().(*[]int32); ok && cap(*kept) >= n && cap(*kept) <= 2*max(n, smallPiece/2) {
		return (*kept)[:0]
	}
	return make([]int32, 0, n)
}

// follows reports whether the columns of a row of C are those of the row before it plus by, 0 or 1. row and before are the
// columns of these rows of A. This holds if they are equal, or if row is before plus 1 and each row of B that row names is
// the row before it plus 1.
func (p *product[V]) follows(row, before []int32) (by int32, ok bool) {
	if len(row) < 2 || len(row) != len(before) || len(p.factors) > 2 {
		return 0, false
	}
	by = row[0] - before[0]
	if by != 0 && by != 1 {
		return 0, false
	}
	for i, c := range row {
		if c != before[i]+by || by == 1 && !p.moved[c] {
			return 0, false
		}
	}
	return by, true
}

// movedRows states for each row of b whether its columns are those of the row before it plus 1.
func movedRows[V sparse.Value](on On, b *sparse.CSR[V]) []bool {
	moved := make([]bool, b.Rows)
	n := on.workers(b.NNZ())
	on.do(n, func(w int) {
		end := rowCut(b.Rows, n, w+1)
		for k := max(rowCut(b.Rows, n, w), 1); k < end; k++ {
			before, row := b.ColIdx[b.RowPtr[k-1]:b.RowPtr[k]], b.ColIdx[b.RowPtr[k]:b.RowPtr[k+1]]
			moved[k] = len(row) == len(before) && isMoved(row, before)
		}
	})
	return moved
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

// fill computes the rows of a piece.
func (p *product[V]) fill(w *worker[V], piece int) {
	c, last := p.c, &w.acc[len(w.acc)-1]
	copy(c.ColIdx[c.RowPtr[p.cuts[piece]]:], p.cols[piece])
	if kept := p.cols[piece]; cap(kept) <= smallPiece {
		columns.Put(&kept)
	}
	p.cols[piece] = nil
	if c.Val == nil {
		return
	}
	if p.atOnce() {
		copy(c.Val[c.RowPtr[p.cuts[piece]]:], p.vals[piece])
		p.vals[piece] = nil
		return
	}
	for r := p.cuts[piece]; r < p.cuts[piece+1]; r++ {
		if len(p.factors) == 2 && r+1 < p.cuts[piece+1] {
			last.load(p.row(r+1), true)
		}
		if lo, hi := c.RowPtr[r], c.RowPtr[r+1]; lo < hi {
			row, by := p.left(w, r, true)
			last.gather(row, by, c.ColIdx[lo:hi], c.Val[lo:hi])
		}
	}
}

// wide reports whether each worker may allocate arrays of all columns of factor i: they are short, or take at most a quarter
// of the memory of the factors and little time beside the work.
func wide[V sparse.Value](factors []*sparse.CSR[V], i, workers int, work int64) bool {
	bytes := int64(0)
	for _, f := range factors {
		bytes += f.Bytes()
	}
	cols := int64(factors[i].Cols)
	return cols <= 1<<12 || cols <= work/4 && int64(workers)*cols*mem.Size[V]() <= bytes/4
}

// order is how the columns of the rows of a matrix follow each other.
type order uint8

const (
	unsorted order = iota
	sorted         // they never descend
	strict         // they strictly ascend
)

// orderOf returns the order of a.
func orderOf[V sparse.Value](on On, a *sparse.CSR[V]) order {
	n := on.workers(a.NNZ())
	var descends, repeats atomic.Bool
	on.do(n, func(w int) {
		twice := false
		end := rowCut(a.Rows, n, w+1)
		for i := rowCut(a.Rows, n, w); i < end; i++ {
			row := a.ColIdx[a.RowPtr[i]:a.RowPtr[i+1]]
			for k := 1; k < len(row); k++ {
				if row[k] <= row[k-1] {
					if row[k] < row[k-1] {
						descends.Store(true)
						return
					}
					twice = true
				}
			}
		}
		if twice {
			repeats.Store(true)
		}
	})
	switch {
	case descends.Load():
		return unsorted
	case repeats.Load():
		return sorted
	}
	return strict
}
