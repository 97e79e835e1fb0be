package spgemm

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/saturate"
	"github.com/msrep-go/msrep/sparse"
)

// product is the computation of C = A B, or of C = A B P.
type product[V sparse.Value] struct {
	on      On
	a, b, p *sparse.CSR[V] // p is nil in C = A B
	traits  *traits[V]
	wide    bool  // see accumulator
	cuts    []int // first row of each piece, then the number of rows
	workers []worker[V]
	cols    [][]int32             // the columns of the rows of each piece, until fill has moved them to c
	vals    [][]V                 // their values in C = A B P
	found   atomic.Int64          // entries of C so far
	values  bool                  // C has values, not only columns
	each    int64                 // bytes of an entry of C
	refused atomic.Pointer[error] // C does not fit into memory
	begin   time.Time             // of the phase; see On.took
	c       *sparse.CSR[V]
}

// compute returns A B, or A B P if third, which is P, is not nil. The shapes match. It finds the columns of each row, then
// computes the values in place; those of A B P are computed with the columns. Without values, the product has columns only.
// All is one job of the workers; only of small factors are the traits found before it.
func compute[V sparse.Value](on On, a, b, third *sparse.CSR[V], values bool) (*sparse.CSR[V], error) {
	p := &product[V]{on: on, a: a, b: b, p: third, values: values, each: 4, begin: time.Now()}
	if err := on.ended(); err != nil {
		return nil, err
	}
	if values {
		p.each += mem.Size[V]()
	}
	p.c = &sparse.CSR[V]{Rows: a.Rows, Cols: b.Cols}
	find, most := p.structure, math.MaxInt
	if third != nil {
		p.c.Cols = third.Cols
		find, most = p.tripleRows, tripleWorkers(a, b, third)
	}
	j := newJob(p.ended)
	n := min(on.workers(max(a.NNZ()+b.NNZ(), averageWork(a, b))), most)
	if n > 1 {
		p.traits = newTraits(a, b, n, third == nil)
		j.each(p.traits.pieces, p.traits.find)
		j.once(p.traits.sum)
	} else {
		p.traits = traitsOf(on, a, b, third == nil)
		n = min(on.workers(p.traits.work[a.Rows]), most)
	}
	p.workers = make([]worker[V], n)
	j.once(p.divide)
	j.each(p.pieces, find)
	j.once(p.place)
	j.each(p.pieces, p.fill)
	on.do(n, func(i int) {
		j.work(i)
		p.workers[i].release()
	})
	if err := p.ended(); err != nil {
		return nil, err
	}
	on.took(&p.begin, func(t *Timing) *time.Duration { return &t.Compute })
	return p.c, nil
}

// averageWork returns the multiplications in A B if each row of B has the average number of entries.
func averageWork[V sparse.Value](a, b *sparse.CSR[V]) int64 {
	return saturate.Mul(a.NNZ(), b.NNZ()/int64(max(b.Rows, 1)))
}

// divide divides the rows of C into pieces.
func (p *product[V]) divide() {
	ptr := p.traits.work
	all := ptr[p.a.Rows]
	if p.on.Timing != nil {
		p.on.Timing.Multiplications = Multiplications(ptr)
	}
	n := min(len(p.workers), p.on.workers(all))
	p.cuts = cut(ptr, n)
	p.c.RowPtr = ptr // find replaces all elements but the first, which is 0
	p.wide = wide(p.a, p.b, min(n, p.pieces()), all)
	p.cols = make([][]int32, p.pieces())
	if p.p != nil {
		p.vals = make([][]V, p.pieces())
	}
	p.on.took(&p.begin, func(t *Timing) *time.Duration { return &t.Analyze })
}

// pieces returns the number of pieces.
func (p *product[V]) pieces() int { return len(p.cuts) - 1 }

// place allocates C, given the number of entries of each row.
func (p *product[V]) place() {
	ptr := p.c.RowPtr
	for i := range p.a.Rows {
		ptr[i+1] += ptr[i]
	}
	p.on.took(&p.begin, func(t *Timing) *time.Duration { return &t.Structure })
	nnz := ptr[p.a.Rows]
	if err := p.fits(nnz, ""); err != nil {
		p.refused.Store(&err)
		return
	}
	// fill sets all elements.
	p.c.ColIdx = mem.Uncleared[int32](int(nnz))
	if p.values {
		p.c.Val = mem.Uncleared[V](int(nnz))
	}
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

// count adds n entries of C that a worker has found. It reports false once those of all workers do not fit into memory, and
// refuses the product.
func (p *product[V]) count(w *worker[V], n int) bool {
	if w.uncounted += n; w.uncounted < checkedEntries {
		return true
	}
	if err := p.fits(p.found.Add(int64(w.uncounted)), "at least "); err != nil {
		p.refused.CompareAndSwap(nil, &err)
	}
	w.uncounted = 0
	return p.refused.Load() == nil
}

// ended returns the error with which the computation ends early: the product does not fit into memory, or the context ended.
func (p *product[V]) ended() error {
	if err := p.refused.Load(); err != nil {
		return *err
	}
	return p.on.ended()
}

// worker is the state of one worker.
type worker[V sparse.Value] struct {
	acc  accumulator[V]
	cols []int32 // the columns of a piece

	uncounted int // entries since the last check of the memory

	triple triple[V]

	_ [64]byte // no worker writes to a cache line that another one reads
}

// multiply returns the accumulator of a worker, for products with b.
func (w *worker[V]) multiply(b *sparse.CSR[V], o order, wide bool) *accumulator[V] {
	if w.acc.b == nil {
		w.acc = newAccumulator(b, o, wide)
	}
	return &w.acc
}

// worker returns the state of a worker.
func (p *product[V]) worker(number int) *worker[V] {
	w := &p.workers[number]
	w.multiply(p.b, p.traits.order, p.wide)
	if w.cols == nil {
		w.cols = take(&pieces, 0)
	}
	return w
}

// release keeps the memory of a worker for later products.
func (w *worker[V]) release() {
	w.acc.release()
	if kept := w.cols; kept != nil && cap(kept) <= smallPiece {
		pieces.Put(&kept)
	}
}

// row returns the columns and values of a row of A.
func (p *product[V]) row(r int) ([]int32, []V) {
	lo, hi := p.a.RowPtr[r], p.a.RowPtr[r+1]
	return p.a.ColIdx[lo:hi], p.a.Val[lo:hi]
}

// load reads the entries of B for row r, if it is before row end; see accumulator.load.
func (p *product[V]) load(w *worker[V], r, end int, values bool) {
	if r < end {
		row, _ := p.row(r)
		w.acc.load(row, values)
	}
}

// structure finds the columns of the rows of a piece, and stores their number for row r in RowPtr[r+1].
func (p *product[V]) structure(number, piece int) {
	w := p.worker(number)
	cols := w.cols[:0]
	var before []int32 // row of A before this one
	n := 0             // its columns of C are the last n of cols
	end := p.cuts[piece+1]
	for r := p.cuts[piece]; r < end; r++ {
		row, _ := p.row(r)
		p.load(w, r+1, end, false)
		if step, ok := p.follows(row, before); ok {
			cols = slices.Grow(cols, n)
			for _, c := range cols[len(cols)-n:] {
				cols = append(cols, c+step)
			}
		} else {
			s := w.acc.bound(row)
			at := len(cols)
			cols = slices.Grow(cols, int(min(s.products, int64(p.c.Cols))))
			n = w.acc.columns(row, s, cols[at:cap(cols)])
			cols = cols[:at+n]
		}
		before = row
		p.c.RowPtr[r+1] = int64(n)
		if !p.count(w, n) {
			return
		}
	}
	w.cols = cols
	p.cols[piece] = append(take(&columns, len(cols)), cols...)
}

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
	if len(row) < 2 || len(row) != len(before) {
		return 0, false
	}
	by = row[0] - before[0]
	if by != 0 && by != 1 {
		return 0, false
	}
	for i, c := range row {
		if c != before[i]+by || by == 1 && !p.traits.moved[c] {
			return 0, false
		}
	}
	return by, true
}

// fill computes the rows of a piece.
func (p *product[V]) fill(number, piece int) {
	c := p.c
	copy(c.ColIdx[c.RowPtr[p.cuts[piece]]:], p.cols[piece])
	if kept := p.cols[piece]; cap(kept) <= smallPiece {
		columns.Put(&kept)
	}
	p.cols[piece] = nil
	if p.vals != nil {
		copy(c.Val[c.RowPtr[p.cuts[piece]]:], p.vals[piece])
		p.vals[piece] = nil
	}
	if c.Val == nil || p.vals != nil {
		return
	}
	w := p.worker(number)
	end := p.cuts[piece+1]
	for r := p.cuts[piece]; r < end; r++ {
		p.load(w, r+1, end, true)
		if lo, hi := c.RowPtr[r], c.RowPtr[r+1]; lo < hi {
			row, by := p.row(r)
			w.acc.gather(row, by, c.ColIdx[lo:hi], c.Val[lo:hi])
		}
	}
}

// wide reports whether each worker may allocate arrays of all columns of B: they are short, or take at most a quarter of the
// memory of the factors and little time beside the work.
func wide[V sparse.Value](a, b *sparse.CSR[V], workers int, work int64) bool {
	cols := int64(b.Cols)
	return cols <= 1<<12 || cols <= work/4 && int64(workers)*cols*mem.Size[V]() <= (a.Bytes()+b.Bytes())/4
}
