package solver

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// PageRankOver is PageRank for a graph that is given as an operator:
//
//	y = links * x      y_j = sum of x_i over the links i -> j
//
// degree[i] is the number of links from node i, 0 for dangling nodes. If links is Distributed, all processes call
// PageRankOver together; degree, Ranks and Dangling then belong to the nodes of this process. Sums are over chunks of
// SumChunk nodes: with a deterministic plan the ranks have the same bits for all devices and processes.
//
// Only Precision FP64, Format GraphAuto and WeightsFolded are supported; other options are *sparse.InputError. Products
// that are not finite end the call with a *ConvergenceError that wraps ErrBreakdown.
func PageRankOver(ctx context.Context, links Operator, degree []int32, opt PageRankOptions) (*PageRankResult, error) {
	begin := time.Now()
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", links)); err != nil {
		return nil, err
	}
	err := opt.fill()
	if err == nil && (opt.Precision != FP64 || opt.Weights != WeightsFolded || opt.Format != GraphAuto) {
		err = sparse.Inputf("options", "precision %s, format %s, weights %s: an operator supports only precision %s, format %s and weights %s",
			opt.Precision, opt.Format, opt.Weights, FP64, GraphAuto, WeightsFolded)
	}
	if rows, cols := links.Dims(); err == nil && (rows != cols || rows != len(degree)) {
		err = sparse.Inputf("degree", "%d numbers for a matrix of %d x %d: the matrix must be square, with one degree for each node", len(degree), rows, cols)
	}
	if i := slices.IndexFunc(degree, func(n int32) bool { return n < 0 }); i >= 0 && err == nil {
		err = sparse.Inputf("degree", "node %d has %d: it must be 0 or more", i, degree[i])
	}
	if err == nil {
		err = vectorsFit("degree", "the vectors of ranks take", 16*int64(len(degree)), len(degree))
	}
	all, fault := space.NewProcesses(links)
	err = errors.Join(err, fault)
	if all != nil {
		err = all.Begin(ctx, new(float64), err, opt.Damping, opt.Tol, float64(opt.MaxIter))
	}
	if err != nil {
		return nil, err
	}
	r := &operatorRanker{links: links, procs: all, ctx: ctx, degree: degree, nodes: len(degree)}
	if all != nil {
		_, r.nodes = all.Op.Piece()
	}
	r.cur, r.next = make([]float64, len(degree)), make([]float64, len(degree))
	r.part = make([]float64, 2*((len(degree)+SumChunk-1)/SumChunk))
	res := &PageRankResult{Format: opt.Format, BySegments: map[int]int{}, Seconds: map[int]float64{}, Timing: PageRankTiming{Build: time.Since(begin)}}
	for _, n := range degree {
		if n == 0 {
			res.Dangling++
		}
	}
	if r.nodes == 0 {
		res.Converged = true
		return res, nil
	}
	if all != nil { // the sums check ctx, for all processes
		ctx = context.WithoutCancel(ctx)
	}
	if err := res.iterate(ctx, r, r.nodes, opt); err != nil {
		return nil, err
	}
	res.Ranks, err = r.ranks()
	return res, err
}

// operatorRanker is a ranker with an Operator. Its vectors are the ranks divided by divisor.
type operatorRanker struct {
	links     Operator
	procs     *space.Processes // nil for an operator that is not Distributed
	ctx       context.Context
	degree    []int32
	nodes     int // number of nodes in all processes
	cur, next []float64
	part      []float64 // two sums for each chunk
}

// divisor returns max(degree[i], 1).
func (r *operatorRanker) divisor(i int) float64 { return float64(max(r.degree[i], 1)) }

// sum adds the two results of f over all chunks [lo, hi) of all processes. err is the error of this process so far, or
// nil.
func (r *operatorRanker) sum(err error, f func(lo, hi int) (a, b float64)) (a, b float64, _ error) {
	failed := space.OnWorkers(r.links, len(r.part)/2, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			r.part[2*k], r.part[2*k+1] = f(k*SumChunk, min((k+1)*SumChunk, len(r.cur)))
		}
	})
	if err == nil {
		err = failed
	}
	var out [2]float64
	if r.procs == nil {
		space.AddChunks(r.part, out[:])
	} else {
		err = r.procs.Total(r.ctx, r.part, out[:], err)
	}
	return out[0], out[1], err
}

func (r *operatorRanker) start(int) (dangling float64, err error) {
	for i := range r.cur {
		r.cur[i] = 1 / float64(r.nodes) / r.divisor(i)
	}
	_, dangling, err = r.sum(nil, func(lo, hi int) (_, inactive float64) { return 0, r.danglingSum(r.cur, lo, hi) })
	return dangling, err
}

// danglingSum returns the sum of the ranks of the dangling nodes in [lo, hi).
func (r *operatorRanker) danglingSum(v []float64, lo, hi int) (sum float64) {
	for i := lo; i < hi; i++ {
		if r.degree[i] == 0 {
			sum += v[i]
		}
	}
	return sum
}

func (r *operatorRanker) step(ctx context.Context, _, _ int, damping, add float64) (diff, dangling float64, err error) {
	err = r.links.SpMV(ctx, msrep.NoTrans, damping, r.cur, 0, r.next)
	if err != nil && r.procs == nil {
		return 0, 0, err
	}
	diff, dangling, err = r.sum(err, func(lo, hi int) (diff, inactive float64) {
		for i := lo; i < hi; i++ {
			d := r.divisor(i)
			r.next[i] = (r.next[i] + add) / d
			diff += float64(math.Abs(r.next[i]-r.cur[i]) * d)
		}
		return diff, r.danglingSum(r.next, lo, hi)
	})
	r.cur, r.next = r.next, r.cur
	return diff, dangling, err
}

// normalise and joinWeights do nothing: the precision never changes.
func (r *operatorRanker) normalise() (float64, error) { return 1, nil }
func (r *operatorRanker) joinWeights() error          { return nil }

func (r *operatorRanker) ranks() ([]float64, error) {
	for i := range r.cur {
		r.cur[i] *= r.divisor(i)
	}
	return r.cur, nil
}

func (r *operatorRanker) close() error { return nil }
