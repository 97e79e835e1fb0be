package solver

import (
	"context"
	"errors"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// PageRankResult is the ranks and how they were found.
type PageRankResult struct {
	Ranks      []float64 // one per node, their sum is 1
	Iterations int
	Residual   float64 // 1-norm of the last difference
	Converged  bool    // Residual is below the tolerance
	Dangling   int     // nodes without links
	Format     GraphFormat
	// BySegments is the iterations by how many segments they read of each value: 1
	// to 2 with cpms2, 1 to 4 with cpms4, all at 1 with fp64. Seconds is their time.
	BySegments map[int]int
	Seconds    map[int]float64
	Timing     PageRankTiming
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
	// whole brings stored weights back to plain float64.
	whole() error
	ranks() ([]float64, error)
	close() error
}

// PageRank ranks the nodes of a graph: an entry (i, j) of a, whatever its value, is
// a link from i to j. It stops after MaxIter iterations, or with the error of ctx
// when that ends. Bad arguments are *sparse.InputError.
func PageRank(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], opt PageRankOptions) (res *PageRankResult, err error) {
	if sys == nil {
		return nil, sparse.Inputf("system", "is nil")
	}
	if ctx == nil {
		return nil, sparse.Inputf("ctx", "is nil: use context.Background()")
	}
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if err := a.Validate(); err != nil {
		return nil, err
	}
	if a.Rows != a.Cols {
		return nil, sparse.Inputf("matrix", "%d x %d: the matrix of a graph is square", a.Rows, a.Cols)
	}
	begin := time.Now()
	g, err := newGraph(ctx, a, &opt)
	if err != nil {
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
		scale(ranks)
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
		if err := r.whole(); err != nil {
			return err
		}
	}
	near := false // the difference has come close to the access precision
	for !res.Converged && res.Iterations < opt.MaxIter {
		if err := ctx.Err(); err != nil {
			return err
		}
		write := read
		if near {
			widths = widths[1:]
			write = widths[0]
		}
		begin := time.Now()
		add := (opt.Damping*dangling + 1 - opt.Damping) / float64(nodes)
		res.Residual, dangling, err = r.step(ctx, read, write, opt.Damping, add)
		if err != nil {
			return err
		}
		took := time.Since(begin)
		k := (read*opt.segments() + 7) / 8
		res.Iterations++
		res.BySegments[k]++
		res.Seconds[k] += took.Seconds()
		res.Timing.Iterate += took
		if write != read {
			begin := time.Now()
			sum, err := r.normalise()
			if err == nil && write == 8 {
				err = r.whole()
			}
			if err != nil {
				return err
			}
			dangling /= sum
			read = write
			res.Timing.Convert += time.Since(begin)
		}
		res.Converged = res.Residual < opt.Tol
		near = res.Residual < threshold(read)
	}
	return nil
}

// scale makes the sum of the ranks 1, which reading less than all of them left
// below.
func scale(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
}
