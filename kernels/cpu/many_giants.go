package cpu

import (
	"math/bits"

	"github.com/msrep-go/msrep/kernels/cpu/simd"
	"github.com/msrep-go/msrep/sparse"
)

// giantEntries is from how many entries on a row is giant: with several vectors it reads
// more of x than the caches next to a core hold, and each giant row reads it again. It is
// replaced in tests.
var giantEntries int64 = 1 << 16

// giantRow is entries of a row that all workers multiply together.
type giantRow[V sparse.Value] struct {
	row   int   // of y; -1 for the one that an earlier part owns
	first int64 // entry, as the pointers of the part count
	idx   []int32
	val   []V
}

// shareGiants shares out the giant rows of the part: each worker gets a stretch of every
// one, from left to right, as long as its piece lacks entries without giant rows.
func (m *manyRows[V]) shareGiants() {
	if m.giants = m.findGiants(); len(m.giants) == 0 {
		return
	}
	lacks, all := make([]int64, len(m.pieces)), int64(0)
	for i := range m.pieces {
		left := m.pieces[i].leaveOut(m.giants, m.part.OwnFirst)
		lacks[i] = max(0, m.part.NNZ()/int64(len(m.pieces))+1-left)
		all += lacks[i]
	}
	done := int64(0)
	for i := range m.pieces {
		q, next := &m.pieces[i], done+lacks[i]
		for _, g := range m.giants {
			lo, hi := mulDiv(len(g.idx), done, all), mulDiv(len(g.idx), next, all)
			q.giants = append(q.giants, giantRow[V]{g.row, g.first + int64(lo), g.idx[lo:hi], g.val[lo:hi]})
		}
		done = next
	}
}

// findGiants finds the giant rows of the part: each of them has an entry at a multiple of
// giantEntries.
func (a compressed[V]) findGiants() (all []giantRow[V]) {
	p, last := a.part, -1
	for k := p.StartIdx; k <= p.EndIdx; k += giantEntries {
		r := holder(a.ptr, k)
		lo, hi := max(a.ptr[r], p.StartIdx), min(a.ptr[r+1], p.EndIdx+1)
		if r != last && hi-lo >= giantEntries {
			all = append(all, giantRow[V]{r - p.OwnFirst, lo, a.idx[lo-p.StartIdx : hi-p.StartIdx], a.val[lo-p.StartIdx : hi-p.StartIdx]})
		}
		last = r
	}
	return all
}

// mulDiv is n*part/whole, part at most whole.
func mulDiv(n int, part, whole int64) int {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return int(q)
}

// leaveOut takes giant rows from the piece, where own is the first row of y, and gives
// the number of entries that are left.
func (q *manyPiece[V]) leaveOut(giants []giantRow[V], own int) int64 {
	p, rows := q.part, &q.rows
	left, whole := p.NNZ(), len(rows.body.Ptr)-1
	for _, g := range giants {
		left -= max(0, min(g.first+int64(len(g.idx)), p.EndIdx+1)-max(g.first, p.StartIdx))
		switch row := g.row + own; {
		case row >= p.OwnFirst && row < p.OwnFirst+whole:
			q.apart = append(q.apart, row-p.OwnFirst)
		case row == p.OwnFirst+whole:
			rows.tail.Ptr = nil
		case p.StartFlag && row == p.StartMajor:
			rows.head.Ptr = nil
		}
	}
	return left
}

// joinGiants writes the giant rows, or gives the carry, from what the workers have of
// them.
func (m *manyRows[V]) joinGiants(sums []simd.MultiVector[V], beta V, y simd.MultiVector[V], carry []V) {
	for i, g := range m.giants {
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
