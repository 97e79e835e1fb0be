package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Result holds the ranks and describes the iterations.
type Result struct {
	Ranks      []float64 // one for each node; their sum is 1
	Iterations int
	Residual   float64 // 1-norm of the difference of the last two iterates
	Converged  bool    // Residual is below the tolerance, and the precision of the last iteration can resolve it
	Dangling   int     // number of nodes without links
	Format     Format
	// BySegments counts the iterations by the number of segments that they read of each value: 1 to 2 with
	// cpms2, 1 to 4 with cpms4, always 1 with fp64. Seconds is their total time.
	BySegments map[int]int
	Seconds    map[int]float64
	Timing     Timing
	Steps      []Step // the iterations, in order
}

// Step describes one iteration.
type Step struct {
	Segments int           // segments read of each value
	Residual float64       // 1-norm of the difference between its result and the ranks before
	Iterate  time.Duration // time of the iteration
	Convert  time.Duration // time of the change of precision after it, 0 where there is none
}

// Timing is the time of PageRank, by phase.
type Timing struct {
	Build   time.Duration // transposing the graph, computing weights, building the format
	Iterate time.Duration // all iterations
	Convert time.Duration // all changes of precision, not part of Iterate
}

// ranker stores a graph and two vectors of ranks on the devices.
type ranker interface {
	// start sets the ranks to Options.Start, stored in width bytes each, and returns the sum over the dangling nodes.
	start(width int) (dangling float64, err error)
	// step computes next = damping*(sum over links) + add + jump*(teleport vector). It reads the first read bytes of
	// each rank and weight and stores the first write bytes of each result. It returns the 1-norm of next - current
	// and the sum of next over the dangling nodes.
	step(ctx context.Context, read, write int, damping, add, jump float64) (diff, dangling float64, err error)
	// normalise divides the ranks by their sum and returns the sum.
	normalise() (sum float64, err error)
	// joinWeights converts stored weights from segments to plain float64.
	joinWeights() error
	ranks() ([]float64, error)
	close() error
}

// newRanker returns a ranker on the devices of sys that are not CPUs or, where there are none, on its CPUs.
func newRanker(sys *msrep.System, g *Graph, opt Options) (ranker, error) {
	var devices []kernels.Device
	for i := range max(1, len(sys.Devices())) { // at least once, to detect a System that Open did not make
		switch d := devvec.Device(sys, i); {
		case d == nil:
			return nil, fmt.Errorf("system: %w", msrep.ErrClosed)
		case d.Info().Kind != "cpu":
			devices = append(devices, d)
		}
	}
	if len(devices) == 0 {
		return newCPURanker(sys, g, opt)
	}
	return newDeviceRanker(devices, g, opt)
}

// PageRank ranks the nodes of a directed graph; the package documentation has the formula. An entry (i, j) of a, with any
// value unless opt.Weighted is set, is a link from node i to node j. If the tolerance is not reached after opt.MaxIter iterations, there is no
// error, but Converged of the result is false. When ctx ends, PageRank returns its error. Wrong arguments are
// *sparse.InputError.
func PageRank(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], opt Options) (*Result, error) {
	if err := cmp.Or(given.Check("system", sys), opt.fill()); err != nil {
		return nil, err
	}
	begin := time.Now()
	g, err := newGraph(ctx, a, opt.Format, opt.Weighted)
	if err != nil {
		return nil, err
	}
	built := time.Since(begin)
	res, err := g.PageRank(ctx, sys, opt)
	if err != nil {
		return nil, err
	}
	res.Timing.Build += built
	return res, nil
}

// PageRank is the function PageRank for an existing Graph. Several calls, also at the same time, may use one Graph.
// opt.Format must be the format of the graph or FormatAuto. Do not close sys during the call: on GPUs the call would end
// with msrep.ErrClosed, and Close would report memory that is not freed.
func (g *Graph) PageRank(ctx context.Context, sys *msrep.System, opt Options) (res *Result, err error) {
	err = cmp.Or(given.Check("system", sys), given.Context(ctx))
	if err == nil && (g == nil || g.ptr == nil) {
		err = sparse.Inputf("graph", "is empty: make it with New")
	}
	if err = cmp.Or(err, opt.fill()); err != nil {
		return nil, err
	}
	if opt.Format != FormatAuto && opt.Format != g.Format {
		return nil, sparse.Inputf("format", "%s: the graph was made for %s", opt.Format, g.Format)
	}
	if opt.Weighted && g.share == nil {
		return nil, sparse.Inputf("weighted", "the graph was made without weights: make it with NewWeighted")
	}
	opt.Format = g.Format
	if g.share != nil {
		opt.Weights = WeightsStored
	}
	begin := time.Now()
	if err := opt.scale(g); err != nil {
		return nil, err
	}
	r, err := newRanker(sys, g, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.close(); e != nil {
			res, err = nil, errors.Join(err, e)
		}
	}()
	res = &Result{
		Dangling: len(g.dangling), Format: opt.Format, BySegments: map[int]int{}, Seconds: map[int]float64{},
		Timing: Timing{Build: time.Since(begin)},
	}
	if g.nodes == 0 {
		res.Converged = true
		return res, nil
	}
	if err := res.iterate(ctx, r, g.nodes, opt); err != nil {
		return nil, err
	}
	ranks, err := r.ranks()
	if err != nil {
		return nil, err
	}
	if opt.Precision != FP64 {
		normaliseRanks(ranks)
	}
	res.Ranks = g.restore(ranks)
	return res, nil
}

// scale replaces Teleport and Start by vectors with the sum 1 in the node order of g.
func (o *Options) scale(g *Graph) (err error) {
	if o.Teleport != nil || o.Start != nil {
		if err := graphFits(g.nodes, len(g.in), "rank these from a vector", 32*int64(g.nodes)); err != nil {
			return err
		}
	}
	if o.Teleport, err = scaled("teleport", o.Teleport, g.nodes); err != nil {
		return err
	}
	if o.Start, err = scaled("start", o.Start, g.nodes); err != nil {
		return err
	}
	o.Teleport, o.Start = g.arrange(o.Teleport), g.arrange(o.Start)
	if o.Start == nil {
		o.Start = o.Teleport
	}
	return nil
}

// iterate runs Algorithm 1 of the CPMS paper with the changes of precision of its section 4.2.
func (res *Result) iterate(ctx context.Context, r ranker, nodes int, opt Options) error {
	widths := opt.widths()
	read := widths[0]
	dangling, err := r.start(read)
	if err != nil {
		return err
	}
	if read == 8 {
		if err := r.joinWeights(); err != nil {
			return err
		}
	}
	near := false // the difference is close to what the read bytes resolve
	for !res.Converged && res.Iterations < opt.MaxIter {
		if err := space.ContextError(ctx); err != nil {
			return err
		}
		write := read
		if near {
			widths = widths[1:]
			write = widths[0]
		}
		begin := time.Now()
		add, jump := opt.restart(dangling, nodes)
		res.Residual, dangling, err = r.step(ctx, read, write, opt.Damping, add, jump)
		if err != nil {
			return err
		}
		step := Step{Segments: (read*opt.segments() + 7) / 8, Residual: res.Residual, Iterate: time.Since(begin)}
		shown := threshold(read) // smaller differences may be due to the bytes that were not read
		if write != read {
			begin := time.Now()
			sum, err := r.normalise()
			if err == nil && write == 8 {
				err = r.joinWeights()
			}
			if err != nil {
				return err
			}
			dangling /= sum
			read = write
			step.Convert = time.Since(begin)
		}
		res.add(step)
		if !space.Finite(res.Residual) { // possible only with an Operator
			return diverged("pagerank", "a rank is not finite after %d iterations", res.Iterations)
		}
		if opt.Progress != nil {
			opt.Progress(res.Iterations, res.Residual)
		}
		res.Converged = res.Residual < opt.Tol && opt.Tol >= shown
		near = res.Residual < threshold(read)
	}
	return nil
}

// add adds an iteration to the result.
func (res *Result) add(s Step) {
	res.Steps = append(res.Steps, s)
	res.Iterations++
	res.BySegments[s.Segments]++
	res.Seconds[s.Segments] += s.Iterate.Seconds()
	res.Timing.Iterate += s.Iterate
	res.Timing.Convert += s.Convert
}

// normaliseRanks divides the ranks by their sum, which is below 1 after iterations with truncated values.
func normaliseRanks(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
}
