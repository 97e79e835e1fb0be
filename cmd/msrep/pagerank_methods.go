package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/msrep-go/msrep/cmd/msrep/internal/nodes"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
	"github.com/msrep-go/msrep/sparse/mtx"
)

// rank ranks the nodes of the graph of a job by the method of the flags, and prints and writes the scores.
func (p *pagerank) rank(ctx context.Context, j *job) error {
	m := j.m
	if m.Rows != m.Cols {
		return sparse.Inputf(p.args[0], "%d x %d: a graph needs a square matrix", m.Rows, m.Cols)
	}
	ids, err := p.idsOf(ctx, m)
	if err != nil {
		return err
	}
	r := p.newRanking(m.Rows, m.Cols, m.NNZ())
	if p.opt.Teleport, r.Seeds, err = p.teleport(ctx, ids); err != nil {
		return err
	}
	if p.warm != "" {
		if p.opt.Start, err = p.scores(ctx, "--warm", p.warm, ids); err != nil {
			return err
		}
	}
	p.opt.Progress = p.iterating()
	var res *graph.Result
	columns := []nodes.Column{{Name: "rank"}}
	switch p.method {
	case "hits":
		var hubs []float64
		if res, hubs, err = p.hits(ctx, j.sys, m.CSR); err != nil {
			return p.ofVectors(err)
		}
		r.Precision, r.TopHubs = "fp64", topNodes(hubs, ids, p.top)
		columns = []nodes.Column{{Name: "authority"}, {Name: "hub", Scores: hubs}}
	case "katz":
		r.Alpha, columns[0].Name = p.alpha, "katz"
		res, err = p.katz(ctx, j.sys, m.CSR)
	default:
		res, err = p.pageRank(ctx, j.sys, m.CSR)
	}
	if err != nil {
		return p.ofVectors(err)
	}
	columns[0].Scores = res.Ranks
	if err := p.write(j.out, m, ids, columns); err != nil {
		return err
	}
	return errors.Join(p.missed(res), p.finish(r, res, ids, j.sys, j.read, j.begin))
}

// ofVectors rewords an error about the teleport or start vector: it names the file.
func (p *pagerank) ofVectors(err error) error {
	var bad *sparse.InputError
	if errors.As(err, &bad) {
		switch {
		case bad.Subject == "teleport" && p.personal != "":
			bad.Subject = p.personal
		case bad.Subject == "start" && p.warm != "":
			bad.Subject = p.warm
		}
	}
	return err
}

// write writes the scores of the nodes to the file of --out; a nil out writes nothing.
func (p *pagerank) write(out *fileio.Out, m *matio.Matrix, ids *nodes.IDs, columns []nodes.Column) error {
	sep := nodes.Separator(p.out)
	if out == nil || sep == 0 {
		return writeVector(p.out, out, columns[0].Scores, m.IDs)
	}
	if err := ids.WriteScores(out, sep, columns...); err != nil {
		return err
	}
	return out.Commit()
}

// idsOf returns the ids of the nodes: those of --ids, or of the graph.
func (p *pagerank) idsOf(ctx context.Context, m *matio.Matrix) (*nodes.IDs, error) {
	switch {
	case p.ids != "":
		return nodes.Read(ctx, p.ids, m.Rows)
	case m.Names != nil:
		return nodes.Texts(m.Names), nil
	}
	return nodes.Numbers(m.Rows, m.IDs), nil
}

// teleport returns the teleport vector of --seeds or --personal, nil without these, and its number of nodes.
func (p *pagerank) teleport(ctx context.Context, ids *nodes.IDs) (v []float64, count int, err error) {
	switch {
	case p.personal != "":
		v, err = p.scores(ctx, "--personal", p.personal, ids)
	case p.seeds != "":
		v, err = p.seedVector(ctx, ids)
	}
	for _, w := range v {
		if w != 0 {
			count++
		}
	}
	return v, count, err
}

// seedVector returns a vector that is 1 for the nodes of --seeds.
func (p *pagerank) seedVector(ctx context.Context, ids *nodes.IDs) ([]float64, error) {
	list, subject := strings.Split(p.seeds, ","), "--seeds"
	if st, err := os.Stat(p.seeds); err == nil && !st.IsDir() {
		subject = p.seeds
		if list, err = nodes.ReadList(ctx, p.seeds); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, sparse.Inputf(subject, "has no ids")
		}
	}
	v, err := newVector[float64]("--seeds", ids.Len())
	if err != nil {
		return nil, err
	}
	for _, id := range list {
		k, ok := ids.Node(strings.TrimSpace(id))
		switch {
		case !ok:
			return nil, sparse.Inputf(subject, "%.40q is no node of the graph", id)
		case v[k] != 0:
			return nil, sparse.Inputf(subject, "node %.40q is given twice", id)
		}
		v[k] = 1
	}
	return v, nil
}

// scores returns a number for each node: the elements of a vector file, or the numbers that lines of a file give nodes
// by id, 0 for the others. For --warm it skips ids that are not in the graph, with a warning.
func (p *pagerank) scores(ctx context.Context, flag, path string, ids *nodes.IDs) ([]float64, error) {
	vector, err := isVector(path)
	if err != nil {
		return nil, err
	}
	if vector {
		return p.readVector(ctx, flag, path, ids.Len())
	}
	v, err := newVector[float64](flag, ids.Len())
	if err != nil {
		return nil, err
	}
	seen, skipped := make([]bool, len(v)), 0
	err = nodes.ReadScores(ctx, path, func(s nodes.Score) error {
		k, ok := ids.Node(s.ID)
		switch {
		case !ok && flag == "--warm":
			skipped++
			return nil
		case !ok:
			return sparse.InputLinef(path, s.Line, "%.40q is no node of the graph", s.ID)
		case seen[k]:
			return sparse.InputLinef(path, s.Line, "node %.40q is given twice", s.ID)
		case !(s.Value >= 0) || math.IsInf(s.Value, 1):
			return sparse.InputLinef(path, s.Line, "node %.40q has %g: a number must be finite and at least 0", s.ID, s.Value)
		}
		seen[k], v[k] = true, s.Value
		return nil
	})
	if skipped > 0 && err == nil {
		p.warn(fmt.Sprintf("%s: %d of the nodes are not in the graph: their scores are not used", path, skipped))
	}
	return v, err
}

// isVector reports whether a file is a vector file, not one of lines "id number".
func isVector(path string) (bool, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return mtx.HasBanner(head[:n]) || filepath.Ext(path) == ".npy", nil
}

// iterating returns a callback that shows the iterations and the time left.
func (p *pagerank) iterating() func(iteration int, difference float64) {
	var begin time.Time
	return func(iteration int, difference float64) {
		if iteration == 1 {
			begin = time.Now()
		} else if p.progress.due() {
			p.progress.converging(p.method, begin, iteration-1, difference, p.opt.Tol)
		}
	}
}

// pageRank computes the ranks of the nodes.
func (p *pagerank) pageRank(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64]) (*graph.Result, error) {
	if p.inLinks {
		begin := time.Now()
		g, err := graph.FromInLinks(ctx, a)
		if err != nil {
			return nil, err
		}
		built := time.Since(begin)
		res, err := g.PageRank(ctx, sys, p.opt)
		if res != nil {
			res.Timing.Build += built
		}
		return res, err
	}
	if !p.deterministic {
		return graph.PageRank(ctx, sys, a, p.opt)
	}
	return p.onLinks(ctx, sys, a, false, func(plan *msrep.Plan[float64], out []float64) (*graph.Result, error) {
		return graph.PageRankOver(ctx, plan, out, p.opt)
	})
}

// hits computes the authority scores, as ranks, and the hub scores of the nodes.
func (p *pagerank) hits(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64]) (res *graph.Result, hubs []float64, err error) {
	res, err = p.onLinks(ctx, sys, a, true, func(plan *msrep.Plan[float64], _ []float64) (*graph.Result, error) {
		begin := time.Now()
		h, err := graph.HITS(ctx, plan, graph.PowerOptions{Tol: p.opt.Tol, MaxIter: p.opt.MaxIter, Start: p.opt.Start, Progress: p.opt.Progress})
		if err != nil {
			return nil, err
		}
		hubs = h.Hubs
		return result(h.Authorities, h.Iterations, h.Residual, h.Converged, begin), nil
	})
	return res, hubs, err
}

// katz computes the Katz centrality of the nodes.
func (p *pagerank) katz(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64]) (*graph.Result, error) {
	return p.onLinks(ctx, sys, a, false, func(plan *msrep.Plan[float64], _ []float64) (*graph.Result, error) {
		begin := time.Now()
		k, err := graph.Katz(ctx, plan, graph.KatzOptions{Alpha: p.alpha, Tol: p.opt.Tol, MaxIter: p.opt.MaxIter, Start: p.opt.Start, Progress: p.opt.Progress})
		if err != nil {
			return nil, err
		}
		return result(k.Scores, k.Iterations, k.Residual, k.Converged, begin), nil
	})
}

// result returns the scores of another method as a result of PageRank.
func result(scores []float64, iterations int, residual float64, converged bool, begin time.Time) *graph.Result {
	return &graph.Result{
		Ranks: scores, Iterations: iterations, Residual: residual, Converged: converged, Format: graph.FormatAuto,
		Timing: graph.Timing{Iterate: time.Since(begin)},
	}
}

// usualIterations is the number of iterations that a tolerance of 1e-10 usually takes.
const usualIterations = 100

// onLinks calls do with a plan of the links into each node, and the weights of the links from each node.
func (p *pagerank) onLinks(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], transposed bool, do func(*msrep.Plan[float64], []float64) (*graph.Result, error)) (*graph.Result, error) {
	begin := time.Now()
	links, out, err := graph.InLinks(ctx, a, p.opt.Weighted)
	if err != nil {
		return nil, err
	}
	opt := msrep.PlanOptions{Deterministic: p.deterministic}
	if opt.Expected.Products = min(p.opt.MaxIter, usualIterations); transposed {
		opt.Expected.Transposed = opt.Expected.Products
	}
	plan, err := msrep.NewPlan(ctx, sys, links, opt)
	if err != nil {
		return nil, err
	}
	defer plan.Close()
	built := time.Since(begin)
	res, err := do(plan, out)
	if err != nil {
		return nil, err
	}
	res.Timing.Build += built
	res.Dangling = 0
	for _, w := range out {
		if w == 0 {
			res.Dangling++
		}
	}
	return res, nil
}
