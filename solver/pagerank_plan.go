package solver

import (
	"context"
	"math"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// planRanker is a ranker on devices of any kind, over a Plan. The ranks are on the
// host, where what follows a product is done. A change of precision packs the
// stored weights anew, so that they are on the devices once at any time.
type planRanker struct {
	sys   *msrep.System
	opt   PageRankOptions
	g     *graph
	links *sparse.CSR[float64] // the graph with weights, or ones
	plan  *msrep.Plan[float64]
	read  int       // segments that the plan reads
	cur   []float64 // as PageRank's, divided by the degree where weights are folded
	next  []float64
	width int // bytes that cur is cut to
}

func newPlanRanker(sys *msrep.System, g *graph, opt PageRankOptions) *planRanker {
	r := &planRanker{sys: sys, opt: opt, g: g, cur: make([]float64, g.nodes), next: make([]float64, g.nodes)}
	r.links = &sparse.CSR[float64]{Rows: g.nodes, Cols: g.nodes, RowPtr: g.ptr, ColIdx: g.in}
	if opt.Weights == WeightsStored {
		r.links.Val = g.weights()
	} else {
		r.links.Val = make([]float64, len(g.in))
		for k := range r.links.Val {
			r.links.Val[k] = 1
		}
	}
	return r
}

// prepare makes a plan that reads the first bytes of the weights, if there is none.
func (r *planRanker) prepare(ctx context.Context, read int) error {
	o := msrep.PlanOptions{Format: sparse.FormatCSR, SkipValidation: true}
	if r.opt.Format != GraphCSR {
		o.Format = "ell"
	}
	k := r.opt.segments()
	if r.opt.Weights == WeightsStored && read < 8 {
		o.Precision = kernels.Precision{Segments: k, Read: read * k / 8}
	}
	if r.plan != nil && r.read == o.Precision.Read {
		return nil
	}
	if err := r.plan.Close(); err != nil {
		return err
	}
	r.read = o.Precision.Read
	var err error
	r.plan, err = msrep.NewPlan(ctx, r.sys, r.links, o)
	return err
}

func (r *planRanker) start(width int) (float64, error) {
	r.width = width
	for i := range r.cur {
		r.cur[i] = cpms.Keep(1/float64(r.g.nodes)/r.degree(i), 8*width, cpms.Truncate)
	}
	return r.inactive(), nil
}

// degree is what the rank of node i is divided by in the vectors.
func (r *planRanker) degree(i int) float64 {
	if r.opt.Weights == WeightsStored {
		return 1
	}
	return float64(r.g.degree[i])
}

// inactive is the sum of the ranks of dangling nodes.
func (r *planRanker) inactive() (sum float64) {
	for _, i := range r.g.dangling {
		sum += r.cur[i]
	}
	return sum
}

func (r *planRanker) step(ctx context.Context, read, write int, damping, add float64) (diff, dangling float64, err error) {
	if err := r.prepare(ctx, read); err != nil {
		return 0, 0, err
	}
	if _, err := r.plan.SpMV(ctx, msrep.NoTrans, damping, r.cur, 0, r.next); err != nil {
		return 0, 0, err
	}
	workers := par.Workers(int64(r.g.nodes), 1<<14)
	diffs := make([]float64, workers)
	par.Do(workers, func(w int) {
		for i := par.Cut(int64(r.g.nodes), workers, w); i < par.Cut(int64(r.g.nodes), workers, w+1); i++ {
			d := r.degree(int(i))
			r.next[i] = cpms.Keep((r.next[i]+add)/d, 8*write, cpms.Truncate)
			diffs[w] += math.Abs(r.next[i]-r.cur[i]) * d
		}
	})
	r.cur, r.next, r.width = r.next, r.cur, write
	for _, d := range diffs {
		diff += d
	}
	return diff, r.inactive(), nil
}

func (r *planRanker) normalise() (sum float64, err error) {
	for i, v := range r.cur {
		sum += v * r.degree(i)
	}
	for i := range r.cur {
		r.cur[i] = cpms.Keep(r.cur[i]/sum, 8*r.width, cpms.Truncate)
	}
	return sum, nil
}

// whole does nothing: the next step makes a plan for plain weights.
func (r *planRanker) whole() error { return nil }

func (r *planRanker) ranks() ([]float64, error) {
	for i := range r.cur {
		r.cur[i] *= r.degree(i)
	}
	return r.cur, nil
}

func (r *planRanker) close() error { return r.plan.Close() }

// newRanker makes the ranker for the devices of sys.
func newRanker(sys *msrep.System, g *graph, opt PageRankOptions) (ranker, error) {
	for _, d := range sys.Devices() {
		if d.Kind != "cpu" {
			return newPlanRanker(sys, g, opt), nil
		}
	}
	return newCPURanker(sys, g, opt)
}
