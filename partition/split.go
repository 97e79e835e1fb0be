package partition

import (
	"slices"

	"github.com/msrep-go/msrep/sparse"
)

// Split splits a compressed matrix into parts by a rule and returns the rule that it
// used, which differs from the argument for RuleAuto. ptr has majors+1 elements, in
// ascending order from 0 to nnz.
//
// It fails with a *sparse.InputError if parts is not in [1, MaxParts], the rule is
// unknown, ptr does not begin with 0 or ends with a negative number, or ptr decreases at
// a border. It does not check the other pointers; sparse.CSR.Validate does.
func Split(ptr []int64, parts int, rule Rule) ([]Part, Rule, error) {
	if err := checkPtr(ptr); err != nil {
		return nil, rule, err
	}
	m := len(ptr) - 1
	if rule == RuleAuto {
		rule = choose(m, ptr[m])
	}
	if err := checkParts(parts); err != nil {
		return nil, rule, err
	}
	c, err := newCutter(ptr, Part{EndIdx: ptr[m] - 1, OwnEnd: m}, rule)
	if err != nil {
		return nil, rule, err
	}
	out, err := c.equal(parts)
	return out, rule, err
}

// SplitCOO is Split for a COO matrix. idx is the index by which the entries are sorted, in
// [0, majors). The parts are those of Split for the same matrix in compressed form. With
// RuleNNZ a split takes O(1) per part, because the majors that begin at StartIdx or later
// are those above idx[StartIdx-1].
//
// It fails with a *sparse.InputError if parts is not in [1, MaxParts], majors is not in
// [0, sparse.MaxDim], the rule is unknown or RuleWhole, idx does not begin and end in [0,
// majors), or idx decreases between two borders. The last error wraps ErrUnsorted.
// SplitCOO does not check the other indices; sparse.COO.Order and Validate do.
func SplitCOO(idx []int32, majors, parts int, rule Rule) ([]Part, Rule, error) {
	if majors < 0 || majors > sparse.MaxDim {
		return nil, rule, sparse.Inputf("matrix", "%d rows or columns: there must be 0 to %d", majors, sparse.MaxDim)
	}
	if n := len(idx); n > 0 && (idx[0] < 0 || int(idx[n-1]) >= majors) {
		return nil, rule, sparse.Inputf("matrix", "indices run from %d to %d: they must be in [0, %d)", idx[0], idx[n-1], majors)
	}
	if rule == RuleAuto {
		rule = choose(majors, int64(len(idx)))
	}
	if err := checkParts(parts); err != nil {
		return nil, rule, err
	}
	c, err := newCOOCutter(idx, Part{EndIdx: int64(len(idx)) - 1, OwnEnd: majors}, rule)
	if err != nil {
		return nil, rule, err
	}
	out, err := c.equal(parts)
	return out, rule, err
}

// SplitAt splits a compressed matrix into parts of whole majors: part k owns the majors
// [cuts[k], cuts[k+1]). It fails with a *sparse.InputError if ptr is wrong in one of the ways
// that Split checks, there are no parts or more than MaxParts, or cuts do not ascend from 0
// to the number of majors.
func SplitAt(ptr []int64, cuts []int) ([]Part, error) {
	if err := checkPtr(ptr); err != nil {
		return nil, err
	}
	m := len(ptr) - 1
	if err := checkParts(len(cuts) - 1); err != nil {
		return nil, err
	}
	if cuts[0] != 0 || cuts[len(cuts)-1] != m || !slices.IsSorted(cuts) {
		return nil, sparse.Inputf("cuts", "must ascend from 0 to %d, the number of rows or columns", m)
	}
	c, err := newCutter(ptr, Part{EndIdx: ptr[m] - 1, OwnEnd: m}, RuleMajor)
	if err != nil {
		return nil, err
	}
	return c.cut(len(cuts)-1, m, func(i int) int { return cuts[i] })
}

func checkParts(n int) error {
	if n < 1 || n > MaxParts {
		return sparse.Inputf("parts", "%d: a matrix is split into 1 to %d parts", n, MaxParts)
	}
	return nil
}
