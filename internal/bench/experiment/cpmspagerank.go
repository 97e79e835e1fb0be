package experiment

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// cpmsTurns is the number of times that each way ranks a graph; the ways alternate.
const cpmsTurns = 2

// timedDamping is the damping factor of timed rankings. The time of an iteration does not depend on it, and with 0.3
// a ranking needs far fewer iterations than with 0.85, including some of each precision. convergence holds the number
// of iterations of each precision with 0.85.
const timedDamping = 0.3

// cpmsWay is a way to rank. strong is the index of the strong baseline with indices of the same size.
type cpmsWay struct {
	name   string
	opt    graph.Options
	strong int
}

// The first two of cpmsWays are the baselines of speed-ups: weights stored with the links, as in the paper, and
// weights folded into the ranks.
const (
	storedFP64 = iota
	foldedFP64
)

// cpmsWays returns the ways of Figures 10 and 11 and ways with folded weights; for ell also ways with 2-byte indices
// where the neighbours of nodes have near numbers. least is the number of bits that 4 segments read first.
func cpmsWays(format string, least int) (w []cpmsWay) {
	stored, folded := graph.WeightsStored, graph.WeightsFolded
	add := func(name string, near bool, strong int, opt graph.Options) {
		opt.WideIndices = !near
		if opt.Precision == graph.CPMS4 {
			opt.LeastBits = least
		}
		w = append(w, cpmsWay{name, opt, strong})
	}
	add("stored fp64", false, foldedFP64, graph.Options{Weights: stored})
	add("folded fp64", false, foldedFP64, graph.Options{Weights: folded})
	for _, p := range []graph.Precision{graph.CPMS2, graph.CPMS4} {
		for _, bank := range cpmsBanks {
			add(fmt.Sprintf("stored %s, %s", p, bankName(bank)), false, foldedFP64, graph.Options{Weights: stored, Precision: p, Bank: bank})
		}
		add(fmt.Sprintf("folded %s", p), false, foldedFP64, graph.Options{Weights: folded, Precision: p})
	}
	if format == "ell" {
		near := len(w)
		add("folded fp64, near", true, near, graph.Options{Weights: folded})
		add("stored fp64, near", true, near, graph.Options{Weights: stored})
		for _, p := range []graph.Precision{graph.CPMS2, graph.CPMS4} {
			add(fmt.Sprintf("stored %s, near", p), true, near, graph.Options{Weights: stored, Precision: p})
			add(fmt.Sprintf("folded %s, near", p), true, near, graph.Options{Weights: folded, Precision: p})
		}
	}
	return w
}

// cpmsGPUWays returns the ways of Figures 7 and 8, and ways with folded weights. On GPUs segments are in banks of 128
// bytes.
func cpmsGPUWays(least int) (w []cpmsWay) {
	for _, p := range []graph.Precision{graph.FP64, graph.CPMS2, graph.CPMS4} {
		for _, weights := range []graph.Weights{graph.WeightsStored, graph.WeightsFolded} {
			opt := graph.Options{Weights: weights, Precision: p}
			if p == graph.CPMS4 {
				opt.LeastBits = least
			}
			w = append(w, cpmsWay{fmt.Sprintf("%s %s", weights, p), opt, foldedFP64})
		}
	}
	return w
}

// wayOf returns the index of the paper's way with stored weights in separated segments.
func wayOf(p graph.Precision) int {
	for i, w := range cpmsWays("csr", 0) {
		if w.opt.Precision == p && w.opt.Weights == graph.WeightsStored && w.opt.Bank == cpms.Separated {
			return i
		}
	}
	return storedFP64
}

// cpmsRun is a ranking to the smallest of paper.CPMSThresholds.
type cpmsRun struct {
	way   cpmsWay
	needs convergence
	// iterate is the seconds of an iteration by the bits that it reads; convert is the seconds of a change of
	// precision after such iterations. Each is the median of a turn and the least of all turns, because other load
	// may disturb a turn.
	iterate, convert map[int]float64
}

// to returns the seconds until the difference is below tol, and the iterations by the bits that they read. Every
// iteration counts with the time of its kind.
func (r *cpmsRun) to(tol float64) (seconds float64, iterations map[int]int) {
	iterations = map[int]int{}
	read := readingOf(r.way.opt)
	for _, s := range r.needs[read] {
		b := read.bits(s)
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

// cpmsPageRank times the rankings of a graph in all ways, alternately.
func (s *Session) cpmsPageRank(ctx context.Context, sys *msrep.System, ways []cpmsWay, format, name string, a *sparse.CSR[float64], needs convergence, turns int) ([]cpmsRun, error) {
	g, err := graph.New(ctx, a, graph.Format(format))
	if err != nil {
		return nil, err
	}
	runs := make([]cpmsRun, len(ways))
	samples := make([]map[int][]float64, len(ways)) // of the iterations of all turns
	for i, w := range ways {
		runs[i] = cpmsRun{way: w, needs: needs, iterate: map[int]float64{}, convert: map[int]float64{}}
		samples[i] = map[int][]float64{}
	}
	for range turns {
		for i := range runs {
			r := &runs[i]
			if err := s.step(ctx, fmt.Sprintf("cpms: pagerank, %s, %s, %s", name, format, r.way.name)); err != nil {
				return nil, err
			}
			opt := r.way.opt
			opt.Damping = timedDamping
			res, err := rankWhole(ctx, sys, g, opt)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.way.name, err)
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

// turn records the times of a ranking, and returns the times of its iterations by the bits that they read.
func (r *cpmsRun) turn(steps []graph.Step) map[int][]float64 {
	iterate, convert := map[int][]float64{}, map[int][]float64{}
	read := readingOf(r.way.opt)
	for _, step := range steps {
		b := read.bits(step)
		iterate[b] = append(iterate[b], step.Iterate.Seconds())
		if step.Convert > 0 {
			convert[b] = append(convert[b], step.Convert.Seconds())
		}
	}
	keepLeast(r.iterate, iterate)
	keepLeast(r.convert, convert)
	return iterate
}

// keepLeast replaces known values by the medians of new samples where these are smaller.
func keepLeast(known map[int]float64, samples map[int][]float64) {
	for b, v := range samples {
		m := measure.Summarize(v).Median
		if old, ok := known[b]; !ok || m < old {
			known[b] = m
		}
	}
}
