package experiment

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
)

// cpmsFactor is the links of a graph by the entries that are asked for: with the default,
// a product of float64 values reads about 100 MB.
const cpmsFactor = 2

// cpmsGraph is a generated graph of a family of the CPMS paper's Table 1.
type cpmsGraph struct {
	name  string
	short string   // for the axes of figures
	like  []string // those of the paper that it stands for, by their abbreviations
	spec  string
}

// The shares of pages of the web graph without links, and of those that link to each other in
// pairs alone. 7.2 % of the pages of Stanford have no links. With closed pairs the differences of
// iterations shrink by no more than the damping factor, and about as many iterations are
// needed as in the paper.
const (
	webDangling = 0.07
	webClosed   = 0.01
)

// cpmsGraphs is graphs with about so many links.
func cpmsGraphs(links int64) (g []cpmsGraph) {
	for _, k := range []struct {
		name, kind, short string
		like              []string
		degree            float64
	}{
		{"adaptive", "quads", "Ada", []string{"Ada"}, 4}, {"delaunay", "delaunay", "Del", []string{"Del"}, 6}, {"bubbles", "bubbles", "Bub", []string{"Bub"}, 3},
		{"rgg", "rgg", "Rgg", []string{"Rgg"}, 15.6}, {"road", "road", "Road", []string{"Eur", "USA"}, 2.4},
	} {
		side := max(math.Round(math.Sqrt(float64(links)/k.degree)), 4)
		g = append(g, cpmsGraph{k.name, k.short, k.like, fmt.Sprintf("planar:kind=%s,n=%.0f,value=ones", k.kind, side)})
	}
	const webLinks = 7.4 // of a page: the geometric mean of the paper's four
	nodes := max(math.Round(float64(links)/webLinks), 16)
	return append(g, cpmsGraph{"web", "Web", []string{"Std", "edu", "Brk", "Ggl"},
		fmt.Sprintf("chunglu:n=%.0f,nnz=%.0f,r=2.1,longest=10000,local=0.7,dangling=%g,closed=%g,value=ones", nodes, webLinks*nodes/(1-webDangling-webClosed), webDangling, webClosed)})
}

// cpmsResults is what the experiment found about one graph.
type cpmsResults struct {
	cpmsGraph
	nodes    int
	links    int64
	dangling int                  // nodes without links
	degrees  []int64              // nodes by their number of links
	needs    convergence          // of PageRank
	products map[string][]float64 // seconds by format, in the order of cpmsCases
	ranked   map[string][]cpmsRun // by format, in the order of cpmsWays
	onGPU    map[string][]cpmsRun // the same for cpmsGPUWays, where there is a GPU
	counted  map[string][]float64 // sectors by format, in the order of countedCases
}

// cpmsFormats is the two formats of the paper; ell is in slices of 8 rows on CPUs.
var cpmsFormats = []string{"csr", "ell"}

// cpmsPaper is Table 2 and Figures 3 to 11 of the CPMS paper: times on CPU threads, for
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
	steps := 2
	for _, format := range cpmsFormats {
		steps += 1 + turns*len(cpmsWays(format, s.LeastSegment))
		if gpu != nil {
			steps += turns * len(cpmsGPUWays(s.LeastSegment))
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
	s.judgeCPMS(cpmsMeansOf(all))
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
	r.nodes, r.links, r.degrees = a.Rows, a.NNZ(), degreesOf(a)
	r.dangling = int(r.degrees[0])
	if err := s.step(ctx, "cpms: iterations, "+g.name); err != nil {
		return r, err
	}
	if r.needs, err = converge(ctx, sys, a); err != nil {
		return r, err
	}
	for _, format := range cpmsFormats {
		if err := s.step(ctx, fmt.Sprintf("cpms: products, %s, %s", g.name, format)); err != nil {
			return r, err
		}
		if r.products[format], err = s.cpmsProducts(ctx, format, g.name, a); err != nil {
			return r, err
		}
		if r.ranked[format], err = s.cpmsPageRank(ctx, sys, cpmsWays(format, s.LeastSegment), format, g.name, a, r.needs, turns); err != nil {
			return r, err
		}
		if gpu == nil {
			continue
		}
		if r.onGPU[format], err = s.cpmsPageRank(ctx, gpu, cpmsGPUWays(s.LeastSegment), format, g.name+" on a GPU", a, r.needs, turns); err != nil {
			return r, err
		}
	}
	return r, nil
}
