package partition

import "github.com/msrep-go/msrep/sparse"

// SplitWeighted cuts a part of a compressed matrix once more by any rule but RuleAuto:
// taker i gets weights[i] of sum(weights) equal shares of the entries (RuleWhole: as
// nearly as it can without cutting a major), of the steps of the merge path, or of
// the owned majors. It is the two-level partition of the paper's section 4.2, one level
// at a time: the whole matrix (Split into one part) among the nodes of a machine with the
// numbers of their devices as weights, then the part of each node among its devices with
// weights of 1.
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
func SplitWeighted(ptr []int64, p Part, weights []int, rule Rule) ([]Part, error) {
	c, err := newCutter(ptr, p, rule)
	if err != nil {
		return nil, err
	}
	return c.weighted(weights)
}

// SplitWeightedCOO is Share for the sorted index of a COO matrix.
func SplitWeightedCOO(idx []int32, p Part, weights []int, rule Rule) ([]Part, error) {
	c, err := newCOOCutter(idx, p, rule)
	if err != nil {
		return nil, err
	}
	return c.weighted(weights)
}

// weighted makes a part for each weight, with as many shares of the work.
func (c *cutter) weighted(weights []int) ([]Part, error) {
	sum, before := 0, make([]int, len(weights)+1)
	for i, w := range weights {
		if w < 0 || w > MaxParts-sum {
			return nil, sparse.Inputf("weights", "%d after a sum of %d: none may be negative and the sum at most %d", w, sum, MaxParts)
		}
		sum += w
		before[i+1] = sum
	}
	if sum == 0 {
		return nil, sparse.Inputf("weights", "their sum is 0: something must be shared out")
	}
	return c.cut(len(weights), sum, func(i int) int { return before[i] })
}
