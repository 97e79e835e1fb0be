package graph

import (
	"cmp"
	"context"
	"math"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// PowerOptions controls HITS.
type PowerOptions struct {
	Tol      float64                                 // stop when the 1-norm of the difference of two iterates, whose sum is 1, is below Tol; 0 means 1e-10
	MaxIter  int                                     // largest number of iterations; 0 means 1000
	Start    []float64                               // first hub scores, scaled to the sum 1; nil means all alike
	Progress func(iteration int, difference float64) // called after each iteration if it is not nil
}

func (o *PowerOptions) fill() error {
	o.Tol, o.MaxIter = cmp.Or(o.Tol, 1e-10), cmp.Or(o.MaxIter, 1000)
	return checkEnd(o.Tol, o.MaxIter)
}

// checkEnd checks the tolerance and the number of iterations of an iteration.
func checkEnd(tol float64, maxIter int) error {
	switch {
	case !(tol > 0) || math.IsInf(tol, 0):
		return sparse.Inputf("tolerance", "%g: it must be above 0 and finite", tol)
	case maxIter < 0:
		return sparse.Inputf("max iterations", "%d: use a positive number, or 0 for 1000", maxIter)
	}
	return nil
}

// HITSResult holds the scores of HITS. Both have the sum 1; they are 0 where the graph has no links.
type HITSResult struct {
	Hubs        []float64
	Authorities []float64
	Iterations  int
	Residual    float64 // 1-norm of the difference of the last two hub scores
	Converged   bool    // Residual is below the tolerance
}

// HITS computes hub and authority scores of the nodes of a graph (Kleinberg, "Authoritative Sources in a Hyperlinked
// Environment", Journal of the ACM, 1999) by the power method:
//
//	authority_j = sum of w_ij * hub_i over the links i -> j
//	hub_i       = sum of w_ij * authority_j over the links i -> j
//
// each scaled to the sum 1. links is the operator of the links into each node (see InLinks); HITS also multiplies by its
// transpose, so a plan is faster with PlanOptions.Expected for transposed products. Weights must not be negative. The scores are
// unique, and equal for every start, only if the largest singular value of the matrix is simple.
//
// If links is Distributed, all processes call HITS together, and Start and the scores belong to the nodes of this
// process. If the tolerance is not reached, there is no error, but Converged is false.
func HITS(ctx context.Context, links msrep.Operator[float64], opt PowerOptions) (*HITSResult, error) {
	filled := opt.fill()
	op, err := newOperator(ctx, links, 3, func(rows int) error { return cmp.Or(filled, checkVector("start", opt.Start, rows)) },
		opt.Tol, float64(opt.MaxIter), flag(opt.Start != nil))
	if err != nil {
		return nil, err
	}
	hubs, err := op.scaled("start", opt.Start)
	if err != nil {
		return nil, err
	}
	if hubs == nil {
		hubs = make([]float64, op.own)
		for i := range hubs {
			hubs[i] = 1 / float64(op.nodes)
		}
	}
	res := &HITSResult{Hubs: hubs, Authorities: make([]float64, op.own), Converged: op.nodes == 0}
	next := make([]float64, op.own)
	for !res.Converged && res.Iterations < opt.MaxIter {
		if err := op.stop(); err != nil {
			return nil, err
		}
		if err := op.normalised(msrep.NoTrans, res.Hubs, res.Authorities); err != nil {
			return nil, err
		}
		if err := op.normalised(msrep.Trans, res.Authorities, next); err != nil {
			return nil, err
		}
		var diff [1]float64
		err := op.sum(nil, diff[:], func(lo, hi int, s []float64) {
			for i := lo; i < hi; i++ {
				s[0] += math.Abs(next[i] - res.Hubs[i])
			}
		})
		if err != nil {
			return nil, err
		}
		res.Iterations++
		res.Residual = diff[0]
		res.Hubs, next = next, res.Hubs
		if opt.Progress != nil {
			opt.Progress(res.Iterations, res.Residual)
		}
		empty, err := op.total(nil, res.Hubs)
		if err != nil {
			return nil, err
		}
		res.Converged = res.Residual < opt.Tol || empty == 0
	}
	return res, nil
}

// normalised computes y = op(links)*x and divides y by its sum, unless the sum is 0.
func (o *operator) normalised(trans msrep.Transpose, x, y []float64) error {
	now, later := o.multiply(trans, 1, x, y)
	if now != nil {
		return now
	}
	sum, err := o.total(later, y)
	if err != nil || sum == 0 {
		return err
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return diverged("hits", "a score is not finite")
	}
	return o.sum(nil, make([]float64, 1), func(lo, hi int, _ []float64) {
		for i := lo; i < hi; i++ {
			y[i] /= sum
		}
	})
}
