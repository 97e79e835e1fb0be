package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/msrep-go/msrep/cluster"
	"github.com/msrep-go/msrep/cmd/msrep/internal/nodes"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/amg"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
)

// runOverRanks does the work of run on several ranks.
func (s *solve) runOverRanks(ctx context.Context) error {
	size, err := s.opt.BlockSize()
	if err := s.agree(err); err != nil {
		return err
	}
	align := max(size, 1) // no rank starts inside a block
	if s.opt.Precond == "amg" {
		align = nodeAlign
	}
	if s.opt.Deterministic {
		align = solver.SumChunk * align / gcd(solver.SumChunk, align)
	}
	m, src, read, err := s.onRanks(ctx, s.out, msrep.Config{}, align)
	if err != nil {
		return err
	}
	return s.solveOverRanks(ctx, m, src.Symmetry == sparse.Symmetric, read)
}

// nodeAlign is a multiple of all sizes of nodes that the preconditioner amg finds.
const nodeAlign = 60

// gcd returns the greatest common divisor.
func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// solveOverRanks solves a system whose rows are spread over the ranks, with the one choice of choiceOverRanks.
func (s *solve) solveOverRanks(ctx context.Context, m *cluster.Matrix[float64], symmetric bool, read time.Duration) error {
	t, r := s.team, s.newSolution(m.Rows, m.Cols, m.NNZ, read)
	c, err := s.choiceOverRanks(symmetric)
	if err == nil && m.Rows != m.Cols {
		err = sparse.Inputf(s.args[0], "%d x %d: solve over ranks needs a square matrix", m.Rows, m.Cols)
	}
	first, end := m.First(), m.First()+m.Part.Rows
	var b []float64
	if err == nil {
		b, err = s.readPiece(ctx, "--rhs", s.rhs, m.Rows, first, end)
	}
	if err := s.agree(err); err != nil {
		return err
	}
	limited := ctx
	if s.opt.Time > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, s.opt.Time)
		defer cancel()
	}
	begin := time.Now()
	line := solveProgress{line: s.progress, tol: s.opt.Tol, start: begin}
	opt := solver.Options{Tol: s.opt.Tol, MaxIter: s.opt.MaxIter, Restart: s.opt.Restart, Basis: s.opt.Basis, Progress: func(k int, residual float64) {
		line.step(solver.Step{Attempt: 1, Choice: c, Iteration: k, Residual: residual})
	}}
	opt.Precond, err = precondOverRanks(limited, t.sys, m, c, s.opt.Deterministic)
	if p, ok := opt.Precond.(io.Closer); ok && err == nil {
		defer p.Close()
	}
	if late, e := s.late(err); late || e != nil {
		return cmp.Or(e, s.agree(s.outOfTime(c)))
	}
	if err := s.agree(err); err != nil {
		return err
	}
	r.Phases.Precond = time.Since(begin).Seconds()

	var expected msrep.Expected
	if c.Method == "lsmr" {
		expected.Transposed = 100
	}
	plan, err := place(ctx, t, m, msrep.PlanOptions{Deterministic: s.opt.Deterministic, Expected: expected, Storage: msrep.Storage{Release: !s.opt.Deterministic}}, read)
	if err != nil {
		return err
	}
	defer plan.Close()
	r.Phases.Plan = plan.took.Seconds()

	x, err := newVector[float64]("matrix", len(b))
	if err := s.agree(err); err != nil {
		return err
	}
	res, failed := solver.ByName(c.Method)(limited, plan.Plan, b, x, opt)
	if errors.Is(failed, solver.ErrOtherProcess) {
		failed = nil // the rank that failed reports the error
	}
	late, err := s.late(failed)
	if err != nil {
		return err
	}
	if late {
		res, failed = &solver.Result{Residual: math.NaN()}, s.outOfTime(c)
	}
	if failed = s.agree(failed); res == nil {
		return failed
	}
	if failed == nil && !(res.Residual <= s.opt.Tol) { // a least squares solution, in all ranks
		failed = s.agree(errInconsistent(res.Residual))
	}
	whole, err := cluster.Gather(t.comm, x)
	if err != nil {
		return err
	}
	ranks, err := collect(t, plan.report())
	if err != nil {
		return err
	}
	r.addAttempt(c, res, failed)
	if t.comm.Rank() == 0 {
		r.X, r.Ranks = normsOf(whole), ranks
		if failed == nil {
			err = writeOutput(t, s.out, whole)
		}
		err = errors.Join(err, s.finish(r, t.sys.Local()))
	}
	return errors.Join(failed, s.agree(err))
}

// late reports whether err is the end of --time on any rank. All ranks call it.
func (s *solve) late(err error) (bool, error) {
	if s.opt.Time == 0 {
		return false, nil
	}
	count := []float64{0}
	if errors.Is(err, context.DeadlineExceeded) {
		count[0] = 1
	}
	failed := s.team.comm.Sum(count)
	return count[0] > 0, failed
}

// outOfTime is the error of a solve that --time ended.
func (s *solve) outOfTime(c solver.Choice) error {
	d := solver.Diagnosis{Kind: solver.Limit, Text: fmt.Sprintf("the time limit of %v ended %s", s.opt.Time, c)}
	return &solver.SystemError{Diagnosis: d, Residual: math.NaN(), Err: context.DeadlineExceeded}
}

// errInconsistent is the error of a least squares solution.
func errInconsistent(residual float64) error {
	return &solver.SystemError{Diagnosis: solver.Diagnosis{Kind: solver.Inconsistent, Text: fmt.Sprintf("no x satisfies all equations; the least residual is %.3g", residual)}, Residual: residual}
}

// choiceOverRanks returns how several ranks solve: each factors its block on the diagonal at most, never the whole matrix.
func (s *solve) choiceOverRanks(symmetric bool) (solver.Choice, error) {
	c := s.opt.Choice
	switch {
	case c.Method == "direct":
		return c, sparse.Inputf("--method", "direct: the ranks have no factors of the whole matrix: run one process, or use gmres with ilut")
	case s.plot != "":
		return c, sparse.Inputf("--plot", "%s: a run on several ranks writes no page", s.plot)
	case c.Method == "" && c.Precond == "" && c.Order == "" && symmetric:
		return solver.Choice{Method: "cg", Precond: "jacobi"}, nil
	case c.Method == "" && c.Precond == "":
		return solver.Choice{Method: "gmres", Precond: "ilut", Order: c.Order}, nil
	case c.Precond == "":
		c.Precond = "none"
	case c.Method == "":
		c.Method = "gmres"
		if symmetric && c.Precond != "ilu" && c.Precond != "ilut" {
			c.Method = "cg"
		}
	}
	return c, nil
}

// precondOverRanks returns the preconditioner of c for this rank's rows, or nil. fixed is --deterministic.
func precondOverRanks(ctx context.Context, sys *cluster.System, m *cluster.Matrix[float64], c solver.Choice, fixed bool) (solver.Preconditioner, error) {
	switch c.Precond {
	case "", "none":
		return nil, nil
	case "jacobi":
		return cluster.Jacobi(m)
	case "amg":
		return cluster.NewAMG(ctx, sys, m, amg.Options{Deterministic: fixed})
	case "chebyshev":
		return nil, sparse.Inputf("--precond", "chebyshev works with one process only: use amg")
	case "ilu", "ic", "ilut":
		return cluster.Schwarz(m, func(block *sparse.CSR[float64]) (solver.Preconditioner, error) { return c.Incomplete(ctx, block) })
	}
	size, err := c.BlockSize()
	if err != nil {
		return nil, err
	}
	return cluster.BlockJacobi(m, size)
}

// runOverRanks does the work of run on several ranks.
func (p *pagerank) runOverRanks(ctx context.Context) error {
	var err error
	if p.method != "pagerank" || p.opt.Weighted || p.inLinks || p.seeds+p.personal+p.warm+p.ids != "" || nodes.Separator(p.out) != 0 {
		err = sparse.Inputf("--method", "hits and katz, --weights on, --in-links, --seeds, --personal, --warm, --ids and an --out .csv or .tsv work with one process only: leave them out under MPI")
	} else if p.precision != "fp64" || p.format != "auto" || p.opt.Weights != graph.WeightsFolded {
		err = sparse.Inputf("--precision", "%s, --format %s, --weights %s: on several ranks use fp64, auto and folded", p.precision, p.format, p.opt.Weights)
	}
	if err := p.agree(err); err != nil {
		return err
	}
	align := 1
	if p.deterministic {
		align = solver.SumChunk
	}
	m, _, read, err := p.onRanks(ctx, p.out, msrep.Config{}, align)
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
	res, err := graph.PageRankOver(ctx, plan.Plan, degree, p.opt)
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
		err = errors.Join(writeOutput(t, p.out, whole), p.finish(r, res, nodes.Numbers(m.Rows, nil), t.sys.Local(), read, begin))
	}
	missed := p.agree(p.missed(res))
	return errors.Join(missed, p.agree(err))
}

// degrees returns the number of entries of each row.
func degrees(a *sparse.CSR[float64]) []float64 {
	d := make([]float64, a.Rows)
	for i := range d {
		d[i] = float64(a.RowPtr[i+1] - a.RowPtr[i])
	}
	return d
}

func ones(v []float64) {
	for k := range v {
		v[k] = 1
	}
}
