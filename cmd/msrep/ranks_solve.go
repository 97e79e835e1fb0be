package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/sparse"
)

// runOverRanks does the work of run on several ranks.
func (s *solve) runOverRanks(ctx context.Context) error {
	align := max(s.block, 1) // no rank starts inside a block
	if s.deterministic {
		align *= solver.SumChunk
	}
	m, read, err := s.onRanks(ctx, s.out, msrep.Config{}, align)
	if err != nil {
		return err
	}
	return s.solveOverRanks(ctx, m, read)
}

func (s *solve) solveOverRanks(ctx context.Context, m *cluster.Matrix[float64], read time.Duration) error {
	t, r := s.team, s.newSolution(m.Rows, m.Cols, m.NNZ, read)
	var err error
	if m.Rows != m.Cols {
		err = sparse.Inputf(s.args[0], "%d x %d: solve needs a square matrix", m.Rows, m.Cols)
	}
	first, end := m.First(), m.First()+m.Part.Rows
	var b []float64
	if err == nil {
		b, err = s.readPiece(ctx, "--rhs", s.rhs, m.Rows, first, end)
	}
	if err := s.agree(err); err != nil {
		return err
	}
	begin := time.Now()
	opt := s.options()
	switch {
	case s.block > 0:
		opt.Precond, err = cluster.BlockJacobi(m, s.block)
	case s.precond == "jacobi":
		opt.Precond, err = cluster.Jacobi(m)
	}
	if err := s.agree(err); err != nil {
		return err
	}
	r.Phases.Precond = time.Since(begin).Seconds()

	plan, err := place(ctx, t, m, msrep.PlanOptions{Deterministic: s.deterministic, Storage: msrep.Storage{Release: !s.deterministic}}, read)
	if err != nil {
		return err
	}
	defer plan.Close()
	r.Phases.Plan = plan.took.Seconds()

	x, err := newVector[float64]("matrix", len(b))
	if err := s.agree(err); err != nil {
		return err
	}
	res, failed := methods[s.method](ctx, plan.Plan, b, x, opt)
	if errors.Is(failed, solver.ErrOtherProcess) {
		failed = nil // the rank that failed reports the error
	}
	if failed = s.agree(failed); res == nil {
		return failed
	}
	whole, err := cluster.Gather(t.comm, x)
	if err != nil {
		return err
	}
	ranks, err := collect(t, plan.report())
	if err != nil {
		return err
	}
	r.copyResult(res, failed)
	if t.comm.Rank() == 0 {
		r.X, r.Ranks = normsOf(whole), ranks
		if failed == nil {
			err = writeOutput(t, s.out, whole)
		}
		err = errors.Join(err, s.finish(r, t.sys.Local()))
	}
	return errors.Join(failed, s.agree(err))
}

// runOverRanks does the work of run on several ranks.
func (p *pagerank) runOverRanks(ctx context.Context) error {
	var err error
	if p.precision != "fp64" || p.format != "auto" || p.opt.Weights != solver.WeightsFolded {
		err = sparse.Inputf("--precision", "%s, --format %s, --weights %s: on several ranks use fp64, auto and folded", p.precision, p.format, p.opt.Weights)
	}
	if err := p.agree(err); err != nil {
		return err
	}
	align := 1
	if p.deterministic {
		align = solver.SumChunk
	}
	m, read, err := p.onRanks(ctx, p.out, msrep.Config{}, align)
	if err != nil {
		return err
	}
	if m.Rows != m.Cols {
		return p.agree(sparse.Inputf(p.args[0], "%d x %d: a graph needs a square matrix", m.Rows, m.Cols))
	}
	return p.rankOverRanks(ctx, m, read)
}

func (p *pagerank) rankOverRanks(ctx context.Context, m *cluster.Matrix[float64], read time.Duration) error {
	t, r := p.team, p.newRanking(m.Rows, m.Cols, m.NNZ)
	begin := time.Now().Add(-read)
	building := time.Now()
	degree := degrees(m.Part)
	links, err := m.Transpose(t.comm)
	if err != nil {
		return err
	}
	ones(links.Part.Val)
	plan, err := place(ctx, t, links, msrep.PlanOptions{Deterministic: p.deterministic, Storage: msrep.Storage{Release: !p.deterministic}}, read)
	if err != nil {
		return err
	}
	defer plan.Close()
	plan.took = time.Since(building)
	res, err := solver.PageRankOver(ctx, plan.Plan, degree, p.opt)
	if errors.Is(err, solver.ErrOtherProcess) {
		err = nil // the rank that failed reports the error
	}
	if err := p.agree(err); err != nil {
		return err
	}
	whole, err := cluster.Gather(t.comm, res.Ranks)
	if err != nil {
		return err
	}
	dangling := []float64{float64(res.Dangling)}
	if err := t.comm.Sum(dangling); err != nil {
		return err
	}
	if r.Ranks, err = collect(t, plan.report()); err != nil {
		return err
	}
	if t.comm.Rank() == 0 {
		res.Ranks, res.Dangling = whole, int(dangling[0])
		res.Timing.Build += plan.took
		err = errors.Join(writeOutput(t, p.out, whole), p.finish(r, res, nil, t.sys.Local(), read, begin))
	}
	missed := p.agree(p.missed(res))
	return errors.Join(missed, p.agree(err))
}

// degrees returns the number of entries of each row.
func degrees(a *sparse.CSR[float64]) []int32 {
	d := make([]int32, a.Rows)
	for i := range d {
		d[i] = int32(a.RowPtr[i+1] - a.RowPtr[i])
	}
	return d
}

func ones(v []float64) {
	for k := range v {
		v[k] = 1
	}
}

// linksInto returns the matrix of the links into each node, with all values 1.
func linksInto(a *sparse.CSR[float64]) *sparse.CSR[float64] {
	links := &sparse.CSR[float64]{Rows: a.Rows, Cols: a.Cols, RowPtr: a.RowPtr, ColIdx: a.ColIdx, Val: slices.Repeat([]float64{1}, len(a.Val))}
	return sparse.ToCSC[float64](links).Transpose()
}
