package graph

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// PageRankOver is PageRank for a graph that is given as an operator:
//
//	y = links * x      y_j = sum of w_ij * x_i over the links i -> j
//
// out[i] is the sum of the weights w_ij of the links from node i, 0 for dangling nodes; without weights it is the number
// of links. InLinks returns both. If links is Distributed, all processes call PageRankOver together; out, Teleport,
// Start, Ranks and Dangling then belong to the nodes of this process. Sums are over chunks of solver.SumChunk nodes: with a
// deterministic plan the ranks have the same bits for all devices and processes.
//
// Only Precision FP64, Format FormatAuto and WeightsFolded are supported; other options are *sparse.InputError. Products
// that are not finite end the call with an error that wraps ErrDiverged.
func PageRankOver(ctx context.Context, links msrep.Operator[float64], out []float64, opt Options) (*Result, error) {
	begin := time.Now()
	op, err := operatorFor(ctx, links, out, &opt, 2)
	if err != nil {
		return nil, err
	}
	r := &operatorRanker{operator: op, out: out}
	if r.teleport, err = op.scaled("teleport", opt.Teleport); err != nil {
		return nil, err
	}
	if r.first, err = op.scaled("start", opt.Start); err != nil {
		return nil, err
	}
	if r.first == nil {
		r.first = r.teleport
	}
	r.cur, r.next = make([]float64, op.own), make([]float64, op.own)
	res := &Result{Format: opt.Format, BySegments: map[int]int{}, Seconds: map[int]float64{}, Timing: Timing{Build: time.Since(begin)}}
	for _, w := range out {
		if w == 0 {
			res.Dangling++
		}
	}
	if r.nodes == 0 {
		res.Converged = true
		return res, nil
	}
	if op.procs != nil { // the sums check ctx, for all processes
		ctx = context.WithoutCancel(ctx)
	}
	if err := res.iterate(ctx, r, r.nodes, opt); err != nil {
		return nil, err
	}
	res.Ranks, err = r.ranks()
	return res, err
}

// operatorFor returns the operator of an iteration over links that needs count vectors. It fills opt.
func operatorFor(ctx context.Context, links msrep.Operator[float64], out []float64, opt *Options, count int) (*operator, error) {
	filled := opt.fill()
	return newOperator(ctx, links, count, func(rows int) error { return cmp.Or(filled, opt.checkOperator(rows, out)) },
		opt.Damping, opt.Tol, float64(opt.MaxIter), flag(opt.Teleport != nil), flag(opt.Start != nil), flag(opt.Dangling == DanglingUniform))
}

// checkOperator returns an error if the options do not suit an operator with this number of rows.
func (o *Options) checkOperator(rows int, out []float64) error {
	if o.Precision != FP64 || o.Weights != WeightsFolded || o.Format != FormatAuto {
		return sparse.Inputf("options", "precision %s, format %s, weights %s: an operator supports only precision %s, format %s and weights %s",
			o.Precision, o.Format, o.Weights, FP64, FormatAuto, WeightsFolded)
	}
	if out == nil {
		out = []float64{}
	}
	return cmp.Or(checkVector("out", out, rows), checkVector("teleport", o.Teleport, rows), checkVector("start", o.Start, rows))
}

// flag returns 1 for true and 0 for false.
func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// operatorRanker is a ranker with an operator. Its vectors are the ranks divided by divisor.
type operatorRanker struct {
	*operator
	out             []float64
	first, teleport []float64
	cur, next       []float64
}

// divisor returns out[i], or 1 where it is 0.
func (r *operatorRanker) divisor(i int) float64 { return divisor(r.out, i) }

func divisor(out []float64, i int) float64 {
	if out[i] == 0 {
		return 1
	}
	return out[i]
}

func (r *operatorRanker) start(int) (dangling float64, err error) {
	for i := range r.cur {
		p := 1 / float64(r.nodes)
		if r.first != nil {
			p = r.first[i]
		}
		r.cur[i] = p / r.divisor(i)
	}
	var sums [1]float64
	err = r.sum(nil, sums[:], func(lo, hi int, s []float64) { s[0] = r.danglingSum(r.cur, lo, hi) })
	return sums[0], err
}

// danglingSum returns the sum of the ranks of the dangling nodes in [lo, hi).
func (r *operatorRanker) danglingSum(v []float64, lo, hi int) (sum float64) {
	for i := lo; i < hi; i++ {
		if r.out[i] == 0 {
			sum += v[i]
		}
	}
	return sum
}

func (r *operatorRanker) step(_ context.Context, _, _ int, damping, add, jump float64) (diff, dangling float64, err error) {
	now, later := r.multiply(msrep.NoTrans, damping, r.cur, r.next)
	if now != nil {
		return 0, 0, now
	}
	var sums [2]float64
	err = r.sum(later, sums[:], func(lo, hi int, s []float64) {
		if r.teleport != nil {
			for i := lo; i < hi; i++ {
				r.next[i] += float64(jump * r.teleport[i])
			}
		}
		for i := lo; i < hi; i++ {
			d := r.divisor(i)
			r.next[i] = (r.next[i] + add) / d
			s[0] += float64(math.Abs(r.next[i]-r.cur[i]) * d)
		}
		s[1] = r.danglingSum(r.next, lo, hi)
	})
	r.cur, r.next = r.next, r.cur
	return sums[0], sums[1], err
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
