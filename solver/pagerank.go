package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// PageRankResult is the ranks and how they were found.
type PageRankResult struct {
	Ranks      []float64 // one per node, their sum is 1
	Iterations int
	Residual   float64 // 1-norm of the last difference
	Converged  bool    // Residual is below the tolerance, and read precisely enough to tell
	Dangling   int     // nodes without links
	Format     GraphFormat
	// BySegments is the iterations by how many segments they read of each value: 1
	// to 2 with cpms2, 1 to 4 with cpms4, all at 1 with fp64. Seconds is their time.
	BySegments map[int]int
	Seconds    map[int]float64
	Timing     PageRankTiming
	Steps      []PageRankStep // the iterations, in order
}

// PageRankStep is one iteration.
type PageRankStep struct {
	Segments int           // that it read of each value
	Residual float64       // 1-norm of the difference that it made
	Iterate  time.Duration // its time
	Convert  time.Duration // of the change of precision behind it, 0 where there was none
}

// PageRankTiming is how long PageRank took.
type PageRankTiming struct {
	Build   time.Duration // turning the graph round, weights, the format
	Iterate time.Duration // all iterations
	Convert time.Duration // changes of precision, beside the iterations
}

// ranker holds a graph and two vectors of ranks on the devices.
type ranker interface {
	// start sets all ranks to 1/n, with width bytes each, and gives the sum of those
	// of dangling nodes.
	start(width int) (dangling float64, err error)
	// step computes next = damping*(sum over links) + add from the first read bytes
	// of ranks and weights, and keeps the first write bytes of it. It gives the
	// 1-norm of next - current and the sum of next over the dangling nodes.
	step(ctx context.Context, read, write int, damping, add float64) (diff, dangling float64, err error)
	// normalise divides the ranks by their sum, and gives that sum.
	normalise() (sum float64, err error)
	// joinWeights brings stored weights back to plain float64.
	joinWeights() error
	ranks() ([]float64, error)
	close() error
}

// newRanker makes the ranker for the devices of sys, which are all CPUs or none.
func newRanker(sys *msrep.System, g *Graph, opt PageRankOptions) (ranker, error) {
	var devices []kernels.Device
	for i := range max(1, len(sys.Devices())) { // a System that is not from Open has none
		switch d := sys.Device(i); {
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

// PageRank ranks the nodes of a graph: an entry (i, j) of a, whatever its value, is
// a link from i to j. MaxIter iterations that did not reach the tolerance are no error:
// Converged of the result says so. A ctx that ends gives its error. Bad arguments are
// *sparse.InputError.
func PageRank(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], opt PageRankOptions) (*PageRankResult, error) {
	if err := cmp.Or(given.Check("system", sys), opt.fill()); err != nil {
		return nil, err
	}
	begin := time.Now()
	g, err := NewGraph(ctx, a, opt.Format)
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

// PageRank is the function of that name for a graph that was made before, and may be
// ranked again and again, by several goroutines too. opt.Format is that of the
// graph, or GraphAuto. sys stays open meanwhile: on GPUs a Close ends it with
// msrep.ErrClosed, and tells of memory that was not freed then.
func (g *Graph) PageRank(ctx context.Context, sys *msrep.System, opt PageRankOptions) (res *PageRankResult, err error) {
	err = cmp.Or(given.Check("system", sys), given.Context(ctx))
	if err == nil && (g == nil || g.ptr == nil) {
		err = sparse.Inputf("graph", "is empty: make it with NewGraph")
	}
	if err = cmp.Or(err, opt.fill()); err != nil {
		return nil, err
	}
	if opt.Format != GraphAuto && opt.Format != g.Format {
		return nil, sparse.Inputf("format", "%s: the graph was made for %s", opt.Format, g.Format)
	}
	opt.Format = g.Format
	begin := time.Now()
	r, err := newRanker(sys, g, opt)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.close(); e != nil {
			res, err = nil, errors.Join(err, e)
		}
	}()
	res = &PageRankResult{
		Dangling: len(g.dangling), Format: opt.Format, BySegments: map[int]int{}, Seconds: map[int]float64{},
		Timing: PageRankTiming{Build: time.Since(begin)},
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

// iterate is Algorithm 1 of the CPMS paper with the switches of its section 4.2.
func (res *PageRankResult) iterate(ctx context.Context, r ranker, nodes int, opt PageRankOptions) error {
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
	near := false // the difference has come close to the access precision
	for !res.Converged && res.Iterations < opt.MaxIter {
		if err := contextError(ctx); err != nil {
			return err
		}
		write := read
		if near {
			widths = widths[1:]
			write = widths[0]
		}
		begin := time.Now()
		add := (float64(opt.Damping*dangling) + 1 - opt.Damping) / float64(nodes)
		res.Residual, dangling, err = r.step(ctx, read, write, opt.Damping, add)
		if err != nil {
			return err
		}
		step := PageRankStep{Segments: (read*opt.segments() + 7) / 8, Residual: res.Residual, Iterate: time.Since(begin)}
		shown := threshold(read) // what is smaller the bits that were not read may hide
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
		if !finite(res.Residual) { // of an Operator: links themselves are numbers
			return &ConvergenceError{Method: "pagerank", Iterations: res.Iterations, Residual: res.Residual, Err: ErrBreakdown}
		}
		res.Converged = res.Residual < opt.Tol && opt.Tol >= shown
		near = res.Residual < threshold(read)
	}
	return nil
}

// add counts an iteration.
func (res *PageRankResult) add(s PageRankStep) {
	res.Steps = append(res.Steps, s)
	res.Iterations++
	res.BySegments[s.Segments]++
	res.Seconds[s.Segments] += s.Iterate.Seconds()
	res.Timing.Iterate += s.Iterate
	res.Timing.Convert += s.Convert
}

// normaliseRanks makes the sum of the ranks 1, which reading less than all of them left
// below.
func normaliseRanks(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
}
