package rows

import (
	"math/bits"

	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/sparse"
)

// LongRowEntries is the number of entries from which all workers share a row. With several vectors such a row reads
// more of x than the caches of a core hold, and each such row reads it again. Tests replace it.
var LongRowEntries int64 = 1 << 16

// longRow is entries of a row that all workers multiply together.
type longRow[V sparse.Value] struct {
	row   int   // row of y; -1 for the row that an earlier part owns
	first int64 // its first entry, in the numbering of the part's pointers
	idx   []int32
	val   []V
}

// shareLongRows divides the long rows of the part among the workers. Each worker gets a stretch of every long row,
// from left to right; its length is in proportion to the entries that the worker's piece lacks without long rows.
func (m *Many[V]) shareLongRows() {
	if m.longRows = m.findLongRows(); len(m.longRows) == 0 {
		return
	}
	lacks, all := make([]int64, len(m.Pieces)), int64(0)
	for i := range m.Pieces {
		left := m.Pieces[i].removeLong(m.longRows, m.part.OwnFirst)
		lacks[i] = max(0, m.part.NNZ()/int64(len(m.Pieces))+1-left)
		all += lacks[i]
	}
	done := int64(0)
	for i := range m.Pieces {
		q, next := &m.Pieces[i], done+lacks[i]
		for _, g := range m.longRows {
			lo, hi := mulDiv(len(g.idx), done, all), mulDiv(len(g.idx), next, all)
			q.longRows = append(q.longRows, longRow[V]{g.row, g.first + int64(lo), g.idx[lo:hi], g.val[lo:hi]})
		}
		done = next
	}
}

// findLongRows finds the long rows of the part. Each of them has an entry at a multiple of longRowEntries.
func (a compressed[V]) findLongRows() (all []longRow[V]) {
	p, last := a.part, -1
	for k := p.StartIdx; k <= p.EndIdx; k += LongRowEntries {
		r := form.RowOf(a.ptr, k)
		lo, hi := max(a.ptr[r], p.StartIdx), min(a.ptr[r+1], p.EndIdx+1)
		if r != last && hi-lo >= LongRowEntries {
			all = append(all, longRow[V]{r - p.OwnFirst, lo, a.idx[lo-p.StartIdx : hi-p.StartIdx], a.val[lo-p.StartIdx : hi-p.StartIdx]})
		}
		last = r
	}
	return all
}

// mulDiv returns n*part/whole for part <= whole, without overflow.
func mulDiv(n int, part, whole int64) int {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int(q)
}

// removeLong takes the long rows out of the piece and returns the number of entries left. own is the first row of y.
func (q *manyPiece[V]) removeLong(longRows []longRow[V], own int) int64 {
	p, rows := q.part, &q.rows
	left, whole := p.NNZ(), len(rows.Body.Ptr)-1
	for _, g := range longRows {
		left -= max(0, min(g.first+int64(len(g.idx)), p.EndIdx+1)-max(g.first, p.StartIdx))
		switch row := g.row + own; {
		case row >= p.OwnFirst && row < p.OwnFirst+whole:
			q.apart = append(q.apart, row-p.OwnFirst)
		case row == p.OwnFirst+whole:
			rows.Tail.Ptr = nil
		case p.StartFlag && row == p.StartMajor:
			rows.Head.Ptr = nil
		}
	}
	return left
}

// joinLongRows adds up the workers' sums of each long row and writes them to y, or to the carry.
func (m *Many[V]) joinLongRows(sums []form.MultiVector[V], beta V, y form.MultiVector[V], carry []V) {
	for i, g := range m.longRows {
		to, scale := carry, V(0)
		if g.row >= 0 {
			to, scale = y.From(g.row).Val, beta
		}
		for j := range y.Cols {
			sum := V(0)
			for _, s := range sums {
				sum += s.Val[i*s.Stride+j]
			}
			if scale != 0 {
				sum += scale * to[j]
			}
			to[j] = sum
		}
	}
}
