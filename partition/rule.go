package partition

import "github.com/msrep-go/msrep/sparse"

// Rule names a way to split a matrix.
type Rule string

// The rules. Shares are rounded down: part i of n gets floor(i*w/n) to floor((i+1)*w/n)-1
// of what w counts.
const (
	// RuleAuto is RuleNNZ or RuleMergePath, by the shape of the matrix.
	RuleAuto Rule = "auto"
	// RuleNNZ cuts the entries evenly: sizes differ by at most one. It is the rule of the
	// MSREP paper (Algorithms 2, 4 and 6).
	RuleNNZ Rule = "nnz"
	// RuleMergePath cuts majors and entries together (Merrill and Garland, SC 2016):
	// merging the ends of the majors with the entries makes a path of majors+nnz steps,
	// which is cut into equal pieces. A cut right behind the last entry of a major moves
	// past its end, so that no part gets a carry without entries; with that the owned majors
	// and entries of a part, added up, differ by at most 3 between any two parts.
	RuleMergePath Rule = "merge-path"
	// RuleMajor gives each part an equal block of majors with all their entries, as the
	// paper's baseline does. Nothing is shared.
	RuleMajor Rule = "block"
	// RuleWhole cuts the entries as evenly as it can without cutting a major: each cut is
	// at the start of the major that is nearest to floor(i*nnz/n). No part has a carry. A
	// major with more than nnz/n entries is a part of its own at best. Not for COO.
	RuleWhole Rule = "whole"
)

// choose gives the rule that RuleAuto stands for.
//
// Beside its entries a product reads one pointer and writes one element of y per
// row: 16 bytes, about as much as the 12 of an entry. While rows hold two
// entries or more on average, the entries dominate, and the paper's rule
// balances them best. With majors > nnz/2 a part of equally many entries may
// hold most of the empty rows and be the last to finish; the merge path counts
// both.
func choose(majors int, nnz int64) Rule {
	if int64(majors) > nnz/2 {
		return RuleMergePath
	}
	return RuleNNZ
}

// unknownRule says why a rule cannot be cut by.
func unknownRule(rule Rule) error {
	switch rule {
	case RuleAuto: // that Split has not replaced
		return sparse.Inputf("rule", "%s stands for one of the others: use the one that Split chose", rule)
	case RuleWhole:
		return sparse.Inputf("rule", "%s needs row or column pointers, which COO lacks: use %s, %s or %s", rule, RuleNNZ, RuleMergePath, RuleMajor)
	}
	return sparse.Inputf("rule", "%q is not known: use %s, %s, %s, %s or %s", string(rule), RuleAuto, RuleNNZ, RuleMergePath, RuleWhole, RuleMajor)
}
