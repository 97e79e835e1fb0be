package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/matio"
)

var pagerankCommand = &command{
	name: "pagerank", args: "GRAPH",
	summary: "rank the nodes of a graph by PageRank",
	details: "GRAPH is a MATRIX whose entry (i, j), whatever its value, is a link from i to j. The nodes of an edge list are the ids that occur.\n" + matrixHelp +
		"\nThe exit code is 1 when the tolerance is not reached; the ranks are printed and written nevertheless.",
	example: "msrep pagerank gen:rmat:scale=16 --precision cpms2 --top 10",
	ranks:   true,
	setup: func(c *call) func(context.Context) error {
		p := &pagerank{call: c}
		f := c.flags
		f.Float64Var(&p.opt.Damping, "damping", 0.85, "damping `FACTOR`, above 0 and below 1")
		f.Float64Var(&p.opt.Tol, "tol", 1e-10, "stop when the 1-norm of the difference of two iterates is below `TOL`")
		f.IntVar(&p.opt.MaxIter, "max-iter", 1000, "stop after at most `N` iterations")
		f.StringVar(&p.precision, "precision", "fp64", "`PRECISION`: fp64, cpms2 (32 bits, then 64) or cpms4 (32, 48, 64)")
		f.IntVar(&p.opt.LeastBits, "least-segment", 32, "read `BITS` of each value first: 32, or 16 with --precision cpms4 as in the CPMS paper, which takes more iterations on most graphs")
		f.StringVar(&p.layout, "layout", "", "`LAYOUT` of the segments of stored weights: interleaved:BYTES or separated (default)")
		f.StringVar(&p.format, "format", "auto", "`FORMAT`: auto, csr, ell or pellr")
		f.StringVar(&p.weights, "weights", "auto", "`PLACE` of the weights: folded into the ranks, stored with the links as in the CPMS paper, or auto (stored if --layout is given)")
		f.IntVar(&p.top, "top", 5, "print the `K` nodes of highest rank, numbered from 0, or by id for an edge list")
		f.StringVar(&p.out, "out", "", "write the ranks to `FILE`: a Matrix Market array, or lines of id and rank if the ids of an edge list have gaps")
		f.BoolVar(&p.deterministic, "deterministic", false, "compute the same bits on any devices with any number of threads and processes; only with --precision fp64")
		return p.run
	},
}

type pagerank struct {
	*call
	opt                                     solver.PageRankOptions
	precision, layout, format, weights, out string
	top                                     int
	deterministic                           bool
}

// check refuses wrong flags before any file is read, and fills the options.
func (p *pagerank) check() error {
	if err := p.want(1); err != nil {
		return err
	}
	for _, f := range []choice{
		{"--precision", p.precision, []string{"fp64", "cpms2", "cpms4"}},
		{"--format", p.format, []string{"auto", "csr", "ell", "pellr"}},
		{"--weights", p.weights, []string{"auto", "folded", "stored"}},
	} {
		if err := f.check(); err != nil {
			return err
		}
	}
	switch o := &p.opt; {
	case !(o.Damping > 0 && o.Damping < 1):
		return sparse.Inputf("--damping", "%g: use a number above 0 and below 1", o.Damping)
	case !(o.Tol > 0 && o.Tol < 2):
		return sparse.Inputf("--tol", "%g: use a number above 0 and below 2, the largest possible difference", o.Tol)
	case o.MaxIter < 1:
		return sparse.Inputf("--max-iter", "%d: use at least 1", o.MaxIter)
	case p.top < 0:
		return sparse.Inputf("--top", "%d: use 0 or more", p.top)
	case o.LeastBits != 16 && o.LeastBits != 32:
		return sparse.Inputf("--least-segment", "%d: use 16 or 32", o.LeastBits)
	case o.LeastBits == 16 && p.precision != "cpms4":
		return sparse.Inputf("--least-segment", "16: only --precision cpms4 reads 16 bits, this is %s", p.precision)
	}
	if p.deterministic && (p.precision != "fp64" || p.format != "auto" || p.weights == "stored" || p.layout != "") {
		return sparse.Inputf("--deterministic", "works only with --precision fp64, --format auto and folded weights")
	}
	p.opt.Precision, p.opt.Format = solver.Precision(p.precision), solver.GraphFormat(p.format)
	p.opt.Weights = solver.WeightsFolded
	if p.weights == "stored" || (p.weights == "auto" && p.layout != "") {
		p.opt.Weights = solver.WeightsStored
	}
	if p.layout == "" {
		p.layout = "separated"
	} else if p.opt.Weights == solver.WeightsFolded {
		return sparse.Inputf("--layout", "%s: folded weights are not stored; leave out --layout or --weights folded", p.layout)
	}
	var err error
	if p.opt.Bank, err = cpms.ParseBank(p.layout); err != nil {
		return sparse.Inputf("--layout", "%q: use separated or interleaved:BYTES, with a multiple of %d up to %d", p.layout, cpms.BankStep, cpms.MaxBank)
	}
	return p.checkOut(p.out)
}

func (p *pagerank) run(ctx context.Context) error {
	if err := p.agree(p.check()); err != nil {
		return err
	}
	if p.team != nil {
		return p.runOverRanks(ctx)
	}
	return p.onMatrix(ctx, p.out, msrep.Config{}, func(j *job) error { return p.rank(ctx, j) }, matio.Renumber())
}

func (p *pagerank) rank(ctx context.Context, j *job) error {
	m := j.m
	if m.Rows != m.Cols {
		return sparse.Inputf(p.args[0], "%d x %d: a graph needs a square matrix", m.Rows, m.Cols)
	}
	res, err := p.pageRank(ctx, j.sys, m.CSR)
	if err != nil {
		return err
	}
	if err := writeVector(j.out, res.Ranks, m.IDs); err != nil {
		return err
	}
	return errors.Join(p.missed(res), p.finish(p.newRanking(m.Rows, m.Cols, m.NNZ()), res, m.IDs, j.sys, j.read, j.begin))
}

// newRanking returns a ranking with the fields that are known before the iterations.
func (p *pagerank) newRanking(rows, cols int, nnz int64) ranking {
	return ranking{
		Matrix:  matrixName{shortName(p.args[0]), rows, cols, nnz},
		Damping: p.opt.Damping, Tol: p.opt.Tol, Precision: p.precision, Layout: p.layout, Weights: string(p.opt.Weights),
	}
}

// pageRank computes the ranks of the nodes.
func (p *pagerank) pageRank(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64]) (*solver.PageRankResult, error) {
	if !p.deterministic {
		return solver.PageRank(ctx, sys, a, p.opt)
	}
	begin := time.Now()
	if err := checkMemory("matrix", "the matrix of the links into each node", 8*int64(a.Rows)+24*a.NNZ()); err != nil {
		return nil, err
	}
	plan, err := msrep.NewPlan(ctx, sys, linksInto(a), msrep.PlanOptions{Deterministic: true})
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	built := time.Since(begin)
	res, err := solver.PageRankOver(ctx, plan, degrees(a), p.opt)
	if res != nil {
		res.Timing.Build += built
	}
	return res, err
}

// missed returns an error if the ranks are not within the tolerance.
func (p *pagerank) missed(res *solver.PageRankResult) error {
	if res.Converged {
		return nil
	}
	return fmt.Errorf("not converged after %d iterations: the last difference is %g, --tol is %g", res.Iterations, res.Residual, p.opt.Tol)
}

// finish prints the result. r has the fields from newRanking; ids are the node ids, nil for 0, 1, ...
func (p *pagerank) finish(r ranking, res *solver.PageRankResult, ids []int64, sys *msrep.System, read time.Duration, begin time.Time) error {
	if missed := p.missed(res); missed != nil {
		r.Failure = missed.Error()
	}
	r.Format, r.Dangling, r.Iterations, r.BySegments = string(res.Format), res.Dangling, res.Iterations, byName(res.BySegments)
	r.Residual, r.Converged, r.Seconds, r.Top = number(res.Residual), res.Converged, byName(res.Seconds), topNodes(res.Ranks, ids, p.top)
	r.Phases = rankingPhases{
		Read: read.Seconds(), Build: res.Timing.Build.Seconds(), Iterate: res.Timing.Iterate.Seconds(),
		Convert: res.Timing.Convert.Seconds(), Total: time.Since(begin).Seconds(),
	}
	r.Devices = namesOf(sys.Devices())
	if p.json {
		return p.printJSON(r)
	}
	return p.print(r)
}
