package partition

import "github.com/msrep-go/msrep/sparse"

// Rule names a way to split a matrix.
type Rule string

// The rules. A rule counts w units of work: entries, majors, or both. Part i of n gets
// the units floor(i*w/n) to floor((i+1)*w/n)-1.
const (
	// RuleAuto stands for RuleNNZ or RuleMergePath, depending on the shape of the matrix.
	RuleAuto Rule = "auto"
	// RuleNNZ cuts the entries evenly: sizes differ by at most one. It is the rule of the
	// MSREP paper (Algorithms 2, 4 and 6).
	RuleNNZ Rule = "nnz"
	// RuleMergePath cuts majors and entries together (Merrill and Garland, SC 2016).
	// Merging the ends of the majors with the entries makes a path of majors+nnz steps,
	// which is cut into equal pieces. A cut right after the last entry of a major moves
	// past the end of that major, to avoid a carry without entries. The sums of owned
	// majors and entries of any two parts therefore differ by at most 3.
	RuleMergePath Rule = "merge-path"
	// RuleMajor gives each part an equal number of consecutive majors with all their
	// entries, like the paper's baseline. No major is cut.
	RuleMajor Rule = "block"
	// RuleWhole cuts the entries as evenly as possible without cutting a major: each cut
	// is at the start of the major that is nearest to entry floor(i*nnz/n). No part has a
	// carry. A major with more than nnz/n entries still lies in one part. COO does not
	// support this rule.
	RuleWhole Rule = "whole"
)

// choose returns the rule that RuleAuto stands for.
//
// Beside its entries, a product reads one pointer and writes one element of y per row.
// These are 16 bytes, about as many as the 12 of an entry. While rows hold two entries or
// more on average, the entries dominate, and RuleNNZ balances them best. With majors >
// nnz/2, a part of equally many entries may hold most of the empty rows and finish last;
// the merge path counts both.
func choose(majors int, nnz int64) Rule {
	if int64(majors) > nnz/2 {
		return RuleMergePath
	}
	return RuleNNZ
}

// unknownRule returns the error for a rule that the matrix cannot be cut by.
func unknownRule(rule Rule) error {
	switch rule {
	case RuleAuto: // only Split and SplitCOO replace it
		return sparse.Inputf("rule", "%s stands for one of the others: use the one that Split chose", rule)
	case RuleWhole:
		return sparse.Inputf("rule", "%s needs row or column pointers, which COO lacks: use %s, %s or %s", rule, RuleNNZ, RuleMergePath, RuleMajor)
	}
	return sparse.Inputf("rule", "%q is not known: use %s, %s, %s, %s or %s", string(rule), RuleAuto, RuleNNZ, RuleMergePath, RuleWhole, RuleMajor)
}
