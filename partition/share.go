package partition

import (
	"slices"
	"sort"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Share cuts a part of a compressed matrix once more by any rule but RuleAuto:
// taker i gets weights[i] of sum(weights) equal shares of the entries (RuleWhole: as
// nearly as it can without cutting a major), of the steps of the merge path, or of
// the owned majors. It is the two-level partition
// of the paper's section 4.2, one level at a time: the whole matrix (Split into
// one part) among the nodes of a machine with the numbers of their devices as
// weights, then the part of each node among its devices with weights of 1.
//
// Both levels round down. With RuleNNZ the first one gives a node with w of d
// devices less than one entry more than nnz*w/d, so that no device gets more than
// ceil(nnz/d) in the end: the largest part over the mean is at most 1 + d/nnz, as
// in a single split into d parts. Often both give the same cuts: always where d
// divides nnz.
//
// The new parts cover p as those of Within do, and ptr may be a window in the same
// way. Share fails with a *sparse.InputError when a weight is negative, the sum is
// not in [1, MaxParts], the rule is unknown, or p does not lie within ptr.
func Share(ptr []int64, p Part, weights []int, rule Rule) ([]Part, error) {
	if p.OwnFirst < 0 || p.OwnFirst > p.OwnEnd || p.OwnEnd >= len(ptr) {
		return nil, sparse.Inputf("part", "it owns rows [%d, %d): there are %d pointers", p.OwnFirst, p.OwnEnd, len(ptr))
	}
	if p.StartIdx < 0 || p.EndIdx < p.StartIdx-1 || p.EndIdx >= ptr[p.OwnEnd] {
		return nil, sparse.Inputf("part", "it holds the entries [%d, %d]: its rows end before entry %d", p.StartIdx, p.EndIdx, ptr[p.OwnEnd])
	}
	end, owned := p.EndIdx+1, p.OwnEnd-p.OwnFirst
	locate := func(q *Part) bool { return q.locate(ptr) }
	switch rule {
	case RuleNNZ:
		return p.share(weights, p.NNZ(), func(d int64) cut {
			own, _ := slices.BinarySearch(ptr[p.OwnFirst:p.OwnEnd], p.StartIdx+d)
			return cut{p.StartIdx + d, p.OwnFirst + own}
		}, locate, errFalls)
	case RuleMajor:
		return p.share(weights, int64(owned), func(d int64) cut {
			own := p.OwnFirst + int(d)
			return cut{min(max(ptr[own], p.StartIdx), end), own}
		}, locate, errFalls)
	case RuleWhole:
		return p.share(weights, p.NNZ(), func(d int64) cut {
			s := p.StartIdx + d
			own, _ := slices.BinarySearch(ptr[p.OwnFirst:p.OwnEnd+1], s)
			own += p.OwnFirst
			if own > p.OwnFirst && s-ptr[own-1] < ptr[min(own, p.OwnEnd)]-s {
				own--
			}
			own = min(own, p.OwnEnd)
			return cut{min(max(ptr[own], p.StartIdx), end), own}
		}, locate, errFalls)
	case RuleMergePath:
		return p.share(weights, p.NNZ()+int64(owned), func(d int64) cut {
			j := sort.Search(owned, func(j int) bool { return min(ptr[p.OwnFirst+j+1], end)-p.StartIdx+int64(j) >= d })
			c := cut{p.StartIdx + d - int64(j), p.OwnFirst + j}
			if j < owned && ptr[c.own] < c.idx {
				c.own++ // it began in the earlier part, which owns it
			}
			return c
		}, locate, errFalls)
	}
	return nil, unknownRule(rule)
}

// ShareCOO is Share for the sorted index of a COO matrix.
func ShareCOO(idx []int32, p Part, weights []int, rule Rule) ([]Part, error) {
	if p.StartIdx < 0 || p.EndIdx < p.StartIdx-1 || p.EndIdx >= int64(len(idx)) || p.OwnFirst < 0 || p.OwnFirst > p.OwnEnd {
		return nil, sparse.Inputf("part", "it holds the entries [%d, %d] and owns rows [%d, %d): there are %d entries", p.StartIdx, p.EndIdx, p.OwnFirst, p.OwnEnd, len(idx))
	}
	own, owned := idx[p.StartIdx:p.EndIdx+1], int64(p.OwnEnd-p.OwnFirst)
	locate := func(q *Part) bool { return q.locateCOO(idx) }
	switch rule {
	case RuleNNZ:
		return p.share(weights, p.NNZ(), func(d int64) cut {
			c := cut{p.StartIdx + d, p.OwnFirst}
			if d > 0 {
				c.own = int(own[d-1]) + 1
			}
			return c
		}, locate, errUnsorted)
	case RuleMajor:
		return p.share(weights, owned, func(d int64) cut {
			first := p.OwnFirst + int(d)
			k := sort.Search(len(own), func(k int) bool { return int(own[k]) >= first })
			return cut{p.StartIdx + int64(k), first}
		}, locate, errUnsorted)
	case RuleMergePath:
		return p.share(weights, p.NNZ()+owned, func(d int64) cut {
			k := sort.Search(len(own), func(k int) bool { return int64(k)+max(int64(own[k])-int64(p.OwnFirst), 0) >= d })
			c := cut{p.StartIdx + int64(k), p.OwnFirst + int(d) - k}
			if k > 0 && int(own[k-1]) == c.own {
				c.own++ // it began in the earlier part, which owns it
			}
			return c
		}, locate, errUnsorted)
	}
	return nil, unknownRule(rule)
}

// share makes one part per weight, cut where at says for a place in [0, work].
func (p Part) share(weights []int, work int64, at func(d int64) cut, locate func(*Part) bool, broken error) ([]Part, error) {
	sum := 0
	for _, w := range weights {
		if w < 0 || w > MaxParts-sum {
			return nil, sparse.Inputf("weights", "%d after a sum of %d: none may be negative and the sum at most %d", w, sum, MaxParts)
		}
		sum += w
	}
	if sum == 0 {
		return nil, sparse.Inputf("weights", "their sum is 0: something must be shared out")
	}
	out := make([]Part, len(weights))
	from, before := cut{p.StartIdx, p.OwnFirst}, 0
	for i, w := range weights {
		to := from
		if before += w; before == sum {
			to = cut{p.EndIdx + 1, p.OwnEnd}
		} else if w > 0 {
			to = at(par.Cut(work, sum, before))
		}
		q := Part{StartIdx: from.idx, EndIdx: to.idx - 1, OwnFirst: from.own, OwnEnd: to.own}
		if from.idx > to.idx || from.own > to.own || !locate(&q) {
			return nil, broken
		}
		out[i], from = q, to
	}
	return out, nil
}
