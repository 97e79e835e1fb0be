package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// cpmsFactor is the links of a graph by the entries that are asked for: with the
// default, the indices of the links alone are larger than most caches.
const cpmsFactor = 4

// cpmsGraph is a generated graph of a family of the CPMS paper's Table 1.
type cpmsGraph struct {
	name string
	like string // those of the paper that it stands for
	spec string
}

// cpmsGraphs is graphs with about so many links.
func cpmsGraphs(links int64) (g []cpmsGraph) {
	for _, k := range []struct {
		name, like string
		degree     float64
	}{{"quads", "Ada", 4}, {"delaunay", "Del", 6}, {"bubbles", "Bub", 3}, {"rgg", "Rgg", 15.6}, {"road", "Eur, USA", 2.4}} {
		side := max(math.Round(math.Sqrt(float64(links)/k.degree)), 4)
		g = append(g, cpmsGraph{k.name, k.like, fmt.Sprintf("planar:kind=%s,n=%.0f,value=ones", k.name, side)})
	}
	g[0].name = "adaptive"
	nodes := max(links/12, 16)
	return append(g, cpmsGraph{"web", "Std, edu, Brk, Ggl", fmt.Sprintf("chunglu:n=%d,nnz=%d,r=2.1,local=0.7,value=ones", nodes, 12*nodes)})
}

// cpmsResults is what the experiment found about one graph.
type cpmsResults struct {
	cpmsGraph
	nodes    int
	links    int64
	products map[string][]float64 // seconds by format, in the order of cpmsCases
	ranked   map[string][]cpmsRun // by format, in the order of cpmsWays
	onGPU    map[string][]cpmsRun // the same for cpmsGPUWays, where there is a GPU
	counted  map[string][]float64 // sectors by format, in the order of countedCases
}

// cpmsFormats is the two formats of the paper; ell is in slices of 8 rows on CPUs.
var cpmsFormats = []string{"csr", "ell"}

// cpmsPaper is Table 2 and Figures 4 to 11 of the CPMS paper: times on CPU threads, for
// Figure 4 the traffic on a simulated GPU, and for Figures 7 and 8 times on a GPU where
// there is one.
func cpmsPaper(ctx context.Context, s *Session) (err error) {
	if s.platform != nil {
		return sparse.Inputf("--devices", "%q: cpms is not modelled; use cpu", s.Devices)
	}
	sys, err := msrep.Open(msrep.Config{Devices: "cpu:1", NUMA: msrep.NUMAOff})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sys.Close()) }()
	var gpu *msrep.System
	if len(s.gpus) > 0 {
		if gpu, err = msrep.Open(msrep.Config{Devices: s.measured(1)}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, gpu.Close()) }()
	}
	graphs := cpmsGraphs(cpmsFactor * s.Entries)
	turns := min(s.Options.MinSamples, cpmsTurns)
	steps := 1
	for _, format := range cpmsFormats {
		steps += 1 + turns*len(cpmsWays(format))
		if gpu != nil {
			steps += turns * len(cpmsGPUWays())
		}
	}
	s.steps(len(graphs) * steps)
	var all []cpmsResults
	small := cpmsGraphs(min(countedLinks, cpmsFactor*s.Entries))
	for i, g := range graphs {
		r, err := s.cpmsGraph(ctx, sys, gpu, g, turns)
		if err == nil {
			r.counted, err = countCPMS(ctx, small[i].spec)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		all = append(all, r)
	}
	s.Page.Sections = append(s.Page.Sections, s.cpmsSections(all, turns)...)
	return err
}

// cpmsGraph makes a graph and measures everything about it; gpu may be nil.
func (s *Session) cpmsGraph(ctx context.Context, sys, gpu *msrep.System, g cpmsGraph, turns int) (r cpmsResults, err error) {
	r = cpmsResults{cpmsGraph: g, products: map[string][]float64{}, ranked: map[string][]cpmsRun{}, onGPU: map[string][]cpmsRun{}}
	if err := s.step(ctx, "cpms: generate "+g.name); err != nil {
		return r, err
	}
	a, _, err := gen.GenerateContext(ctx, g.spec, 0)
	if err != nil {
		return r, err
	}
	r.nodes, r.links = a.Rows, a.NNZ()
	for _, format := range cpmsFormats {
		if err := s.step(ctx, fmt.Sprintf("cpms: products, %s, %s", g.name, format)); err != nil {
			return r, err
		}
		if r.products[format], err = s.cpmsProducts(ctx, format, g.name, a); err != nil {
			return r, err
		}
		if r.ranked[format], err = s.cpmsPageRank(ctx, sys, cpmsWays(format), format, g.name, a, turns); err != nil {
			return r, err
		}
		if gpu == nil {
			continue
		}
		if r.onGPU[format], err = s.cpmsPageRank(ctx, gpu, cpmsGPUWays(), format, g.name+" on a GPU", a, turns); err != nil {
			return r, err
		}
	}
	return r, nil
}

// twice writes a speed-up over the paper's baseline and, in brackets, over the
// strong one.
func twice(over, strong float64) string { return fmt.Sprintf("%.2f (%.2f)", over, strong) }

// heat is a table of speed-ups: those of rows[i] in cells[i].
func heat(name, title, corner string, header, rows []string, over, strong [][]float64) report.Table {
	t := report.Table{Name: name, Title: title, Origin: report.Measured, Header: append([]string{corner}, header...)}
	most := 0.0
	for _, row := range over {
		for _, v := range row {
			most = max(most, v)
		}
	}
	for i := range rows {
		cells, shade := []string{rows[i]}, []float64{}
		for k, v := range over[i] {
			cells, shade = append(cells, twice(v, strong[i][k])), append(shade, v/most)
		}
		t.Rows, t.Shade = append(t.Rows, cells), append(t.Shade, shade)
	}
	return t
}
