// Package graph ranks the nodes of directed graphs. An entry (i, j) of a matrix is a link from node i to node j.
//
// PageRank ranks nodes by the power method. Let n be the number of nodes, O_i the
// number of links from node i, d the damping factor, and s the sum of p_i over the nodes without links
// (dangling nodes):
//
//	p_j = d * (sum over links i -> j of p_i/O_i + s/n) + (1-d)/n
//
// The iteration starts from p = 1/n and ends when the 1-norm of the difference of two iterates is below the
// tolerance. (Line 6 of Algorithm 1 in the CPMS paper, Grützmacher et al., "Acceleration of PageRank with
// Customized Precision based on Mantissa Segmentation", omits d in the dangling term, so that the sum of p is
// not 1 there. This package uses the standard formula.)
//
// With a teleport vector t (Options.Teleport), t_j replaces 1/n: personalised PageRank. PageRanks computes it for many
// teleport vectors at once. The comments of HITS and Katz have their formulas. docs/graphs.md has the commands.
//
// Precisions cpms2 and cpms4 are adaptive (section 4.2 of the paper): the first iterations read 32 bits of each
// rank and weight, and later ones 48 or 64 bits, when the difference approaches what the bits can resolve.
// docs/cpms.md has the rule and its effect.
package graph

import "errors"

// ErrDiverged means that the numbers of an iteration grow without bound or are not finite.
var ErrDiverged = errors.New("diverged")
