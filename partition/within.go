package partition

import (
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Within cuts a part of a compressed matrix once more into n parts, for the
// workers of one device or the devices of one node. It follows the merge path of
// the part: its entries and owned majors together are shared out evenly. The
// majors that p owns are owned by one of the new parts each, and if p has a
// carry, so has the first of them that holds entries.
//
// ptr may be the pointers of the whole matrix or a window of them with p shifted
// to it (see Shift). It fails with a *sparse.InputError when n is not in
// [1, MaxParts] or p does not lie within ptr.
func Within(ptr []int64, p Part, n int) ([]Part, error) {
	if p.OwnFirst < 0 || p.OwnFirst > p.OwnEnd || p.OwnEnd >= len(ptr) {
		return nil, sparse.Inputf("part", "it owns rows [%d, %d): there are %d pointers", p.OwnFirst, p.OwnEnd, len(ptr))
	}
	end, owned := p.EndIdx+1, p.OwnEnd-p.OwnFirst
	return p.within(n, func(d int64) cut {
		// The end of owned major j comes after its last entry in the part and the
		// ends of the j majors before it.
		j := sort.Search(owned, func(j int) bool { return min(ptr[p.OwnFirst+j+1], end)-p.StartIdx+int64(j) >= d })
		c := cut{p.StartIdx + d - int64(j), p.OwnFirst + j}
		if j < owned && ptr[c.own] < c.idx {
			c.own++ // it began in the earlier part, which owns it
		}
		return c
	}, func(q *Part) bool { return q.locate(ptr) }, errFalls)
}

// WithinCOO is Within for the sorted index of a COO matrix.
func WithinCOO(idx []int32, p Part, n int) ([]Part, error) {
	if p.StartIdx < 0 || p.EndIdx < p.StartIdx-1 || p.EndIdx >= int64(len(idx)) || p.OwnFirst > p.OwnEnd {
		return nil, sparse.Inputf("part", "it holds the entries [%d, %d]: there are %d", p.StartIdx, p.EndIdx, len(idx))
	}
	own := idx[p.StartIdx : p.EndIdx+1]
	return p.within(n, func(d int64) cut {
		k := sort.Search(len(own), func(k int) bool { return int64(k)+max(int64(own[k])-int64(p.OwnFirst), 0) >= d })
		c := cut{p.StartIdx + int64(k), p.OwnFirst + int(d) - k}
		if k > 0 && int(own[k-1]) == c.own {
			c.own++ // it began in the earlier part, which owns it
		}
		return c
	}, func(q *Part) bool { return q.locateCOO(idx) }, errUnsorted)
}

// within makes the parts between the cuts that at gives for the steps of the
// part's merge path.
func (p Part) within(n int, at func(step int64) cut, locate func(*Part) bool, broken error) ([]Part, error) {
	if n < 1 || n > MaxParts {
		return nil, sparse.Inputf("parts", "%d: a part is split into 1 to %d", n, MaxParts)
	}
	steps := p.NNZ() + int64(p.OwnEnd-p.OwnFirst)
	out := make([]Part, n)
	from := cut{p.StartIdx, p.OwnFirst}
	for i := range out {
		to := cut{p.EndIdx + 1, p.OwnEnd}
		if i < n-1 {
			to = at(par.Cut(steps, n, i+1))
		}
		q := Part{StartIdx: from.idx, EndIdx: to.idx - 1, OwnFirst: from.own, OwnEnd: to.own}
		if from.idx > to.idx || from.own > to.own || !locate(&q) {
			return nil, broken
		}
		out[i], from = q, to
	}
	return out, nil
}

// Shift gives the part as it is seen through a window of the matrix: majors and
// entries are counted from these. A device that holds local pointers sees
// p.Shift(p.First(), p.StartIdx); one that reads the pointers of the whole
// matrix from its first row on sees p.Shift(p.First(), 0).
func (p Part) Shift(majors int, entries int64) Part {
	p.StartIdx -= entries
	p.EndIdx -= entries
	p.StartMajor -= majors
	p.EndMajor -= majors
	p.OwnFirst -= majors
	p.OwnEnd -= majors
	return p
}
