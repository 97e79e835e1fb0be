package graph

import (
	"cmp"
	"context"
	"math"
	"strconv"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// KatzOptions controls Katz.
type KatzOptions struct {
	Alpha    float64                                 // factor of each further link of a walk, above 0; 0 means 0.1
	Beta     float64                                 // what each node has by itself, above 0; 0 means 1
	Tol      float64                                 // stop when the 1-norm of the difference of two iterates, divided by that of the last one, is below Tol; 0 means 1e-10
	MaxIter  int                                     // largest number of iterations; 0 means 1000
	Start    []float64                               // first scores; nil means zeros
	Progress func(iteration int, difference float64) // called after each iteration if it is not nil
}

func (o *KatzOptions) fill() error {
	o.Alpha, o.Beta, o.Tol, o.MaxIter = cmp.Or(o.Alpha, 0.1), cmp.Or(o.Beta, 1), cmp.Or(o.Tol, 1e-10), cmp.Or(o.MaxIter, 1000)
	switch {
	case !(o.Alpha > 0) || math.IsInf(o.Alpha, 0):
		return sparse.Inputf("alpha", "%g: it must be above 0 and finite", o.Alpha)
	case !(o.Beta > 0) || math.IsInf(o.Beta, 0):
		return sparse.Inputf("beta", "%g: it must be above 0 and finite", o.Beta)
	}
	return checkEnd(o.Tol, o.MaxIter)
}

// KatzResult holds the scores of Katz.
type KatzResult struct {
	Scores     []float64 // not scaled; divide them by their 2-norm for the numbers of networkx
	Iterations int
	Residual   float64 // 1-norm of the difference of the last two iterates, divided by that of the last one
	Converged  bool    // Residual is below the tolerance
}

// Katz computes the Katz centrality of the nodes of a graph ("A New Status Index Derived from Sociometric Analysis",
// Psychometrika, 1953): the sum over all walks that end in a node, where each link counts its weight times alpha:
//
//	x_j = alpha * (sum of w_ij * x_i over the links i -> j) + beta
//
// links is the operator of the links into each node (see InLinks). Weights must not be negative. The sum is finite only
// if alpha is below 1/lambda, where lambda is the largest absolute value of the eigenvalues of the matrix. Otherwise
// Katz ends with an error that wraps ErrDiverged and estimates 1/lambda: when every difference grows, when a number is
// not finite, or when the differences still grow after MaxIter iterations.
//
// If links is Distributed, all processes call Katz together, and Start and the scores belong to the nodes of this
// process. If the tolerance is not reached, there is no error, but Converged is false.
func Katz(ctx context.Context, links msrep.Operator[float64], opt KatzOptions) (*KatzResult, error) {
	filled := opt.fill()
	op, err := newOperator(ctx, links, 3, func(rows int) error { return cmp.Or(filled, checkVector("start", opt.Start, rows)) },
		opt.Alpha, opt.Beta, opt.Tol, float64(opt.MaxIter), flag(opt.Start != nil))
	if err != nil {
		return nil, err
	}
	cur, next, last := make([]float64, op.own), make([]float64, op.own), make([]float64, op.own)
	copy(cur, opt.Start)
	res := &KatzResult{Scores: cur, Converged: op.nodes == 0}
	before, growth := 0.0, 0.0 // the 1-norm of the difference before, and the factor from there to the last one
	for !res.Converged && res.Iterations < opt.MaxIter {
		if err := op.stop(); err != nil {
			return nil, err
		}
		now, later := op.multiply(msrep.NoTrans, opt.Alpha, cur, next)
		if now != nil {
			return nil, now
		}
		first := res.Iterations == 0
		// sums: the 1-norms of the difference and of the scores; the numbers of differences that are not 0, that are
		// smaller than the one before, and that are or were negative.
		var sums [5]float64
		err := op.sum(later, sums[:], func(lo, hi int, s []float64) {
			for i := lo; i < hi; i++ {
				next[i] += opt.Beta
				d := next[i] - cur[i]
				s[0] += math.Abs(d)
				s[1] += math.Abs(next[i])
				if last[i] != 0 {
					s[2]++
					if d < last[i] {
						s[3]++
					}
				}
				if d < 0 || last[i] < 0 {
					s[4]++
				}
				last[i] = d
			}
		})
		if err != nil {
			return nil, err
		}
		res.Iterations++
		diff := sums[0]
		res.Residual = diff / sums[1]
		cur, next = next, cur
		res.Scores = cur
		if before > 0 && !math.IsInf(diff, 0) && !math.IsNaN(diff) {
			growth = diff / before
		}
		before = diff
		if opt.Progress != nil {
			opt.Progress(res.Iterations, res.Residual)
		}
		if math.IsNaN(diff) || math.IsInf(sums[1], 0) {
			return nil, diverged("katz", "a score is not finite after %d iterations: %s", res.Iterations, tooLarge(opt.Alpha, growth))
		}
		// Differences d >= 0 with alpha*links*d >= d in every node, and d > 0 in some, prove that the spectral radius of
		// alpha*links is at least 1 (Collatz and Wielandt).
		if !first && res.Residual > noise && sums[2] > 0 && sums[3] == 0 && sums[4] == 0 {
			return nil, diverged("katz", "%s", tooLarge(opt.Alpha, growth))
		}
		res.Converged = res.Residual < opt.Tol
	}
	if !res.Converged && growth >= 1 && res.Residual > noise {
		return nil, diverged("katz", "the scores still grow after %d iterations: %s", res.Iterations, tooLarge(opt.Alpha, growth))
	}
	return res, nil
}

// noise is a residual below which growing differences may be due to rounding. Where the scores grow without bound, the
// residual after k iterations is about 1/k or more.
const noise = 1e-8

// tooLarge says that alpha is too large if differences grow by this factor in each iteration; 0 means not known.
func tooLarge(alpha, growth float64) string {
	if growth == 0 {
		return "alpha must be below 1/lambda, and is " + number(alpha)
	}
	return "alpha must be below 1/lambda, about " + number(alpha/growth) + " for this graph, and is " + number(alpha)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
