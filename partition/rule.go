package partition

import "github.com/msrep-go/msrep/sparse"

// Rule names a way to split a matrix.
type Rule string

// The rules.
const (
	RuleAuto      Rule = "auto"       // RuleNNZ or RuleMergePath, by the shape of the matrix
	RuleNNZ       Rule = "nnz"        // equal numbers of entries
	RuleMergePath Rule = "merge-path" // equal numbers of entries and majors together
	RuleMajor     Rule = "block"      // equal numbers of majors
	RuleWhole     Rule = "whole"      // about equal numbers of entries, no major cut; not for COO
)

// Choose gives the rule that RuleAuto stands for.
//
// Beside its entries a product reads one pointer and writes one element of y per
// row: 16 bytes, about as much as the 12 of an entry. While rows hold two
// entries or more on average, the entries dominate, and the paper's rule
// balances them best. With majors > nnz/2 a part of equally many entries may
// hold most of the empty rows and be the last to finish; the merge path counts
// both.
func Choose(majors int, nnz int64) Rule {
	if int64(majors) > nnz/2 {
		return RuleMergePath
	}
	return RuleNNZ
}

// Split cuts a compressed matrix by any rule and says which one was used:
// RuleAuto is replaced by its choice. The errors are those of the rule's own
// function.
func Split(ptr []int64, parts int, rule Rule) ([]Part, Rule, error) {
	var split func([]int64, int) ([]Part, error)
	switch rule {
	case RuleAuto:
		return Auto(ptr, parts)
	case RuleNNZ:
		split = ByNNZ
	case RuleMergePath:
		split = ByMergePath
	case RuleMajor:
		split = ByMajor
	case RuleWhole:
		split = ByWholeMajors
	default:
		return nil, rule, unknownRule(rule)
	}
	out, err := split(ptr, parts)
	return out, rule, err
}

// SplitCOO is Split for the sorted index of a COO matrix.
func SplitCOO(idx []int32, majors, parts int, rule Rule) ([]Part, Rule, error) {
	if rule == RuleAuto {
		rule = Choose(majors, int64(len(idx)))
	}
	var split func([]int32, int, int) ([]Part, error)
	switch rule {
	case RuleNNZ:
		split = SortedCOO
	case RuleMergePath:
		split = COOByMergePath
	case RuleMajor:
		split = COOByMajor
	default:
		return nil, rule, unknownRule(rule)
	}
	out, err := split(idx, majors, parts)
	return out, rule, err
}

// Auto cuts a compressed matrix by RuleNNZ or RuleMergePath, as Choose says, and
// tells which it was.
func Auto(ptr []int64, parts int) ([]Part, Rule, error) {
	if err := checkPtr(ptr); err != nil {
		return nil, RuleAuto, err
	}
	return Split(ptr, parts, Choose(len(ptr)-1, ptr[len(ptr)-1]))
}

func unknownRule(rule Rule) error {
	return sparse.Inputf("rule", "%q is not known: use %s, %s, %s, %s or %s", string(rule), RuleAuto, RuleNNZ, RuleMergePath, RuleWhole, RuleMajor)
}
