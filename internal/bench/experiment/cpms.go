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

// cpmsFactor is the number of links of a graph over --entries: with the default, a product of float64 values reads
// about 100 MB.
const cpmsFactor = 2

// cpmsGraph is a generated graph of a family in Table 1 of the CPMS paper.
type cpmsGraph struct {
	name  string
	short string   // label on the axes of figures
	like  []string // abbreviations of the paper's graphs that it represents
	spec  string
}

// Fractions of the pages of the web graph without links, and of those in pairs that link only to each other. 7.2 % of
// the pages of Stanford have no links. Closed pairs limit the decrease of the differences per iteration to the
// damping factor, and so the number of iterations is about that of the paper.
const (
	webDangling = 0.07
	webClosed   = 0.01
)

// cpmsGraphs returns graphs with about the given number of links.
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
	const webLinks = 7.4 // per page: the geometric mean of the paper's four web graphs
	nodes := max(math.Round(float64(links)/webLinks), 16)
	return append(g, cpmsGraph{"web", "Web", []string{"Std", "edu", "Brk", "Ggl"},
		fmt.Sprintf("chunglu:n=%.0f,nnz=%.0f,r=2.1,longest=10000,local=0.7,dangling=%g,closed=%g,value=ones", nodes, webLinks*nodes/(1-webDangling-webClosed), webDangling, webClosed)})
}

// cpmsResults are the results for one graph.
type cpmsResults struct {
	cpmsGraph
	nodes    int
	links    int64
	dangling int                  // nodes without links
	degrees  []int64              // number of nodes by their number of links
	needs    convergence          // of PageRank
	products map[string][]float64 // seconds by format, in the order of cpmsCases
	ranked   map[string][]cpmsRun // by format, in the order of cpmsWays
	onGPU    map[string][]cpmsRun // the same for cpmsGPUWays, if there is a GPU
	counted  map[string][]float64 // sectors by format, in the order of countedCases
}

// cpmsFormats are the two formats of the paper; on CPUs, ell uses slices of 8 rows.
var cpmsFormats = []string{"csr", "ell"}

// cpmsPaper runs Table 2 and Figures 3 to 11 of the CPMS paper. It measures times on CPU threads, for Figures 7 and 8
// times on a GPU if there is one, and for Figure 4 the traffic on a simulated GPU.
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

// cpmsGraph generates a graph and measures all its results; gpu may be nil.
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
