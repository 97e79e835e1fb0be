package partition

import "github.com/msrep-go/msrep/sparse"

// SplitWeighted splits a part of a compressed matrix again, by any rule but RuleAuto. New part i
// gets the fraction weights[i]/sum(weights) of the entries (with RuleWhole, as nearly as
// whole majors allow), of the steps of the merge path, or of the owned majors. It is one
// level of the two-level partition of the MSREP paper, section 4.2. The first call splits
// the whole matrix (Split into one part) among the nodes of a machine, weighted by their
// numbers of devices. The second splits the part of each node among its devices with
// weights of 1.
//
// Both levels round down. With RuleNNZ, a node with w of d devices gets less than one
// entry more than nnz*w/d, and no device gets more than ceil(nnz/d). So the Imbalance is
// at most 1 + d/nnz, as in a single split into d parts. Two levels often give the same
// cuts as a single split, and always do if d divides nnz.
//
// The new parts cover p. As in Within, ptr may be a window of the pointers. SplitWeighted fails with a
// *sparse.InputError if a weight is negative, the sum is not in [1, MaxParts], the rule is unknown, or p does not lie
// within ptr.
func SplitWeighted(ptr []int64, p Part, weights []int, rule Rule) ([]Part, error) {
	c, err := newCutter(ptr, p, rule)
	if err != nil {
		return nil, err
	}
	return c.weighted(weights)
}

// SplitWeightedCOO is SplitWeighted for the sorted index of a COO matrix.
func SplitWeightedCOO(idx []int32, p Part, weights []int, rule Rule) ([]Part, error) {
	c, err := newCOOCutter(idx, p, rule)
	if err != nil {
		return nil, err
	}
	return c.weighted(weights)
}

// weighted makes one part for each weight, with that many units of the work.
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
