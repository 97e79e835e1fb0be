package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/msrep-go/msrep/bench/measure"
	"github.com/msrep-go/msrep/bench/paper"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// cpmsTurns is how often each way ranks a graph, in turn with the others.
const cpmsTurns = 2

// cpmsWay is a way to rank. strong is the place of the strong baseline with indices of
// the same size.
type cpmsWay struct {
	name   string
	opt    solver.PageRankOptions
	strong int
}

// The first two of cpmsWays are those that speed-ups are over: weights stored with the
// links, as in the paper, and weights folded into the ranks.
const (
	storedFP64 = iota
	foldedFP64
)

// cpmsWays is the ways of Figures 10 and 11 and those of folded weights; and in ell
// ways whose indices take 2 bytes where nodes are near to their neighbours.
func cpmsWays(format string) (w []cpmsWay) {
	stored, folded := solver.WeightsStored, solver.WeightsFolded
	add := func(name string, near bool, strong int, opt solver.PageRankOptions) {
		opt.WideIndices = !near
		w = append(w, cpmsWay{name, opt, strong})
	}
	add("stored fp64", false, foldedFP64, solver.PageRankOptions{Weights: stored})
	add("folded fp64", false, foldedFP64, solver.PageRankOptions{Weights: folded})
	for _, p := range []solver.Precision{solver.CPMS2, solver.CPMS4} {
		for _, bank := range cpmsBanks {
			add(fmt.Sprintf("stored %s, %s", p, bankName(bank)), false, foldedFP64, solver.PageRankOptions{Weights: stored, Precision: p, Bank: bank})
		}
		add(fmt.Sprintf("folded %s", p), false, foldedFP64, solver.PageRankOptions{Weights: folded, Precision: p})
	}
	if format == "ell" {
		near := len(w)
		add("folded fp64, near", true, near, solver.PageRankOptions{Weights: folded})
		add("stored fp64, near", true, near, solver.PageRankOptions{Weights: stored})
		for _, p := range []solver.Precision{solver.CPMS2, solver.CPMS4} {
			add(fmt.Sprintf("stored %s, near", p), true, near, solver.PageRankOptions{Weights: stored, Precision: p})
			add(fmt.Sprintf("folded %s, near", p), true, near, solver.PageRankOptions{Weights: folded, Precision: p})
		}
	}
	return w
}

// cpmsGPUWays is the ways of Figures 7 and 8, and those of folded weights. Segments are in
// banks of 128 bytes on GPUs.
func cpmsGPUWays() (w []cpmsWay) {
	for _, p := range []solver.Precision{solver.FP64, solver.CPMS2, solver.CPMS4} {
		for _, weights := range []solver.Weights{solver.WeightsStored, solver.WeightsFolded} {
			w = append(w, cpmsWay{fmt.Sprintf("%s %s", weights, p), solver.PageRankOptions{Weights: weights, Precision: p}, foldedFP64})
		}
	}
	return w
}

// wayOf is the place of the paper's way with stored weights in separated segments.
func wayOf(p solver.Precision) int {
	for i, w := range cpmsWays("csr") {
		if w.opt.Precision == p && w.opt.Weights == solver.WeightsStored && w.opt.Bank == cpms.Separated {
			return i
		}
	}
	return storedFP64
}

// cpmsRun is a ranking to the least of paper.CPMSThresholds.
type cpmsRun struct {
	way   cpmsWay
	steps []solver.PageRankStep
	// iterate is the seconds of an iteration by the bits that it reads, convert those
	// of the changes of precision after such iterations: the median of a turn, and the
	// least of the turns, of which others who use the machine may disturb one.
	iterate, convert map[int]float64
}

// bits that an iteration reads of each value.
func (r *cpmsRun) bits(s solver.PageRankStep) int {
	switch r.way.opt.Precision {
	case solver.CPMS2:
		return 32 * s.Segments
	case solver.CPMS4:
		return 16 * s.Segments
	}
	return 64
}

// to gives the seconds, and the iterations by the bits that they read, until the
// difference is below tol. Every iteration takes the time of its kind.
func (r *cpmsRun) to(tol float64) (seconds float64, iterations map[int]int) {
	iterations = map[int]int{}
	for _, s := range r.steps {
		b := r.bits(s)
		iterations[b]++
		seconds += r.iterate[b]
		if s.Residual < tol {
			break
		}
		if s.Convert > 0 {
			seconds += r.convert[b]
		}
	}
	return seconds, iterations
}

// cpmsPageRank ranks a graph in all ways, in turn.
func (s *Session) cpmsPageRank(ctx context.Context, sys *msrep.System, ways []cpmsWay, format, name string, a *sparse.CSR[float64], turns int) ([]cpmsRun, error) {
	g, err := solver.NewGraph(ctx, a, solver.GraphFormat(format))
	if err != nil {
		return nil, err
	}
	runs := make([]cpmsRun, len(ways))
	for i, w := range ways {
		runs[i] = cpmsRun{way: w, iterate: map[int]float64{}, convert: map[int]float64{}}
	}
	samples := make([]map[int][]float64, len(ways)) // of iterations, of all turns
	for turn := range turns {
		for i := range runs {
			r := &runs[i]
			if err := s.step(ctx, fmt.Sprintf("cpms: pagerank, %s, %s, %s", name, format, r.way.name)); err != nil {
				return nil, err
			}
			opt := r.way.opt
			opt.Tol = paper.CPMSThresholds[len(paper.CPMSThresholds)-1]
			res, err := g.PageRank(ctx, sys, opt)
			if err != nil {
				return nil, err
			}
			if !res.Converged {
				return nil, fmt.Errorf("%s: no difference below %g in %d iterations", r.way.name, opt.Tol, res.Iterations)
			}
			if turn == 0 {
				r.steps, samples[i] = res.Steps, map[int][]float64{}
			}
			for b, v := range r.turn(res.Steps) {
				samples[i][b] = append(samples[i][b], v...)
			}
		}
	}
	for i, r := range runs {
		for _, b := range slices.Sorted(maps.Keys(samples[i])) {
			s.Record.Add("cpms", name+" "+format+" "+r.way.name, fmt.Sprintf("iteration, %d bits", b), samples[i][b])
		}
	}
	return runs, nil
}

// turn takes the times of a ranking into account, and gives those of its iterations by
// the bits that they read.
func (r *cpmsRun) turn(steps []solver.PageRankStep) map[int][]float64 {
	iterate, convert := map[int][]float64{}, map[int][]float64{}
	for _, step := range steps {
		b := r.bits(step)
		iterate[b] = append(iterate[b], step.Iterate.Seconds())
		if step.Convert > 0 {
			convert[b] = append(convert[b], step.Convert.Seconds())
		}
	}
	keepLeast(r.iterate, iterate)
	keepLeast(r.convert, convert)
	return iterate
}

// keepLeast lowers what is known to the medians of new samples.
func keepLeast(known map[int]float64, samples map[int][]float64) {
	for b, v := range samples {
		m := measure.Summarize(v).Median
		if old, ok := known[b]; !ok || m < old {
			known[b] = m
		}
	}
}
