package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/msrep-go/msrep/cmd/msrep/internal/nodes"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/graph"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
	"github.com/msrep-go/msrep/sparse/matio"
)

var pagerankCommand = &command{
	name: "pagerank", args: "GRAPH",
	summary: "rank the nodes of a graph by PageRank, HITS or Katz centrality",
	details: "GRAPH is a MATRIX whose entry (i, j) is a link from i to j. Its value counts only with --weights on.\nThe nodes of an edge list are the ids that occur.\n" + matrixHelp +
		"\nThe exit code is 1 when the tolerance is not reached; the ranks are printed and written nevertheless.",
	example: "msrep pagerank gen:rmat:scale=16 --precision cpms2 --top 10",
	ranks:   true,
	setup: func(c *call) func(context.Context) error {
		p := &pagerank{call: c}
		f := c.flags
		f.StringVar(&p.method, "method", "pagerank", "`METHOD`: pagerank, hits (authorities and hubs) or katz")
		f.StringVar(&p.seeds, "seeds", "", "personalised PageRank with equal weights of these nodes: a `FILE` with one id a line, or ids separated by commas")
		f.StringVar(&p.personal, "personal", "", "personalised PageRank from the nodes of a `FILE` with lines \"id weight\", or from a vector file")
		f.StringVar(&p.dangling, "dangling", "teleport", "the rank of nodes without links goes to `NODES`: teleport (those of --seeds or --personal) or uniform (all)")
		f.StringVar(&p.warm, "warm", "", "start from the scores in `FILE`, such as --out wrote for the graph before it changed, or a vector file")
		f.StringVar(&p.ids, "ids", "", "read the ids of the nodes from `FILE`, one a line, as msrep convert --ids writes them")
		f.Float64Var(&p.alpha, "alpha", 0.1, "katz: `FACTOR` of each further link of a walk, below 1/lambda of the matrix")
		f.Float64Var(&p.opt.Damping, "damping", 0.85, "damping `FACTOR`, above 0 and below 1")
		f.Float64Var(&p.opt.Tol, "tol", 1e-10, "stop when the 1-norm of the difference of two iterates is below `TOL`")
		f.IntVar(&p.opt.MaxIter, "max-iter", 1000, "stop after at most `N` iterations")
		f.StringVar(&p.precision, "precision", "fp64", "`PRECISION`: fp64, cpms2 (32 bits, then 64) or cpms4 (32, 48, 64)")
		f.IntVar(&p.opt.LeastBits, "least-segment", 32, "read `BITS` of each value first: 32, or 16 with --precision cpms4 as in the CPMS paper, which takes more iterations on most graphs")
		f.StringVar(&p.layout, "layout", "", "`LAYOUT` of the segments of stored weights: interleaved:BYTES or separated (default)")
		f.StringVar(&p.format, "format", "auto", "`FORMAT`: auto, csr, ell or pellr")
		f.StringVar(&p.weights, "weights", "auto", "`WEIGHTS` of the links: on (the values of the matrix) or off (all equal). For equal weights also where they are: folded (into the ranks), stored (with the links, as in the CPMS paper) or auto (stored if --layout is given)")
		f.IntVar(&p.top, "top", 5, "print the `K` nodes of highest score, numbered from 0, or by id for an edge list")
		f.StringVar(&p.out, "out", "", "write the scores to `FILE`: lines of id and score (.csv, .tsv), a Matrix Market array, an .npy file, or lines of id and rank if the ids of an edge list have gaps")
		f.BoolVar(&p.inLinks, "in-links", false, "entry (i, j) of GRAPH is a link from j to i, as convert --transpose writes it; an .msr file is then read in place, for graphs larger than the memory")
		f.BoolVar(&p.deterministic, "deterministic", false, "compute the same bits on any devices with any number of threads and processes; only with --precision fp64")
		return p.run
	},
}

type pagerank struct {
	*call
	opt                                     graph.Options
	precision, layout, format, weights, out string
	method, dangling                        string
	seeds, personal, warm, ids              string
	alpha                                   float64
	top                                     int
	deterministic, inLinks                  bool
}

// ofPageRank are the flags that only --method pagerank has.
var ofPageRank = []string{"seeds", "personal", "dangling", "damping", "precision", "least-segment", "layout", "format", "in-links"}

// check refuses wrong flags before any file is read, and fills the options.
func (p *pagerank) check() error {
	if err := p.want(1); err != nil {
		return err
	}
	for _, f := range []choice{
		{"--precision", p.precision, []string{"fp64", "cpms2", "cpms4"}},
		{"--format", p.format, []string{"auto", "csr", "ell", "pellr"}},
		{"--weights", p.weights, []string{"auto", "on", "off", "folded", "stored"}},
		{"--method", p.method, []string{"pagerank", "hits", "katz"}},
		{"--dangling", p.dangling, []string{string(graph.DanglingTeleport), string(graph.DanglingUniform)}},
	} {
		if err := f.check(); err != nil {
			return err
		}
	}
	if err := p.checkMethod(); err != nil {
		return err
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
	if p.inLinks && (p.deterministic || p.weights == "on" || p.weights == "stored" || p.layout != "" || p.format == "ell" || p.format == "pellr") {
		return sparse.Inputf("--in-links", "reads the links in place, without values: leave out --weights, --layout, --format and --deterministic")
	}
	p.opt.Precision, p.opt.Format = graph.Precision(p.precision), graph.Format(p.format)
	p.opt.Dangling, p.opt.Weighted = graph.Dangling(p.dangling), p.weights == "on"
	p.opt.Weights = graph.WeightsFolded
	if p.weights == "stored" || p.opt.Weighted && !p.deterministic || p.weights != "folded" && p.layout != "" {
		p.opt.Weights = graph.WeightsStored
	}
	if p.layout == "" {
		p.layout = "separated"
	} else if p.opt.Weights == graph.WeightsFolded {
		return sparse.Inputf("--layout", "%s: folded weights are not stored; leave out --layout or --weights folded", p.layout)
	}
	var err error
	if p.opt.Bank, err = cpms.ParseBank(p.layout); err != nil {
		return sparse.Inputf("--layout", "%q: use separated or interleaved:BYTES, with a multiple of %d up to %d", p.layout, cpms.BankStep, cpms.MaxBank)
	}
	return p.checkOut(p.out, append([]string{".csv", ".tsv"}, oneVector...))
}

// checkMethod refuses flags that do not suit the method or each other.
func (p *pagerank) checkMethod() (err error) {
	p.flags.Visit(func(f *flag.Flag) {
		if p.method != "pagerank" && slices.Contains(ofPageRank, f.Name) {
			err = cmp.Or(err, sparse.Inputf("--"+f.Name, "applies to --method pagerank only, this is %s", p.method))
		}
		if f.Name == "alpha" && p.method != "katz" {
			err = cmp.Or(err, sparse.Inputf("--alpha", "applies to --method katz only, this is %s", p.method))
		}
	})
	switch {
	case err != nil:
		return err
	case p.method != "pagerank" && (p.weights == "folded" || p.weights == "stored"):
		return sparse.Inputf("--weights", "%s: applies to --method pagerank only; use on or off", p.weights)
	case !(p.alpha > 0) || math.IsInf(p.alpha, 1):
		return sparse.Inputf("--alpha", "%g: use a number above 0", p.alpha)
	case p.seeds != "" && p.personal != "":
		return sparse.Inputf("--seeds", "and --personal both name the nodes to start from: leave one out")
	case p.method == "hits" && p.out != "" && nodes.Separator(p.out) == 0:
		return sparse.Inputf("--out", "%s: each node has two scores: use a name like scores.csv or scores.tsv", p.out)
	}
	return nil
}

func (p *pagerank) run(ctx context.Context) error {
	if err := p.agree(p.check()); err != nil {
		return err
	}
	if p.team != nil {
		return p.runOverRanks(ctx)
	}
	opts := []matio.Option{matio.Renumber(), matio.WithEdges(matio.EdgeOptions{Weighted: p.opt.Weighted})}
	if p.inLinks {
		opts = append(opts, matio.SkipChecksums()) // the values are not read
	}
	return p.onMatrix(ctx, p.out, msrep.Config{}, func(j *job) error { return p.rank(ctx, j) }, opts...)
}

// newRanking returns a ranking with the fields that are known before the iterations.
func (p *pagerank) newRanking(rows, cols int, nnz int64) ranking {
	return ranking{
		Matrix: matrixName{shortName(p.args[0]), rows, cols, nnz},
		Method: p.method, Weighted: p.opt.Weighted,
		Damping: p.opt.Damping, Tol: p.opt.Tol, Precision: p.precision, Layout: p.layout, Weights: string(p.opt.Weights),
	}
}

// missed returns an error if the ranks are not within the tolerance.
func (p *pagerank) missed(res *graph.Result) error {
	if res.Converged {
		return nil
	}
	return fmt.Errorf("not converged after %d iterations: the last difference is %g, --tol is %g", res.Iterations, res.Residual, p.opt.Tol)
}

// finish prints the result. r has the fields from newRanking.
func (p *pagerank) finish(r ranking, res *graph.Result, ids *nodes.IDs, sys *msrep.System, read time.Duration, begin time.Time) error {
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

// ranking is the result that msrep pagerank prints.
type ranking struct {
	Matrix     matrixName         `json:"matrix"`
	Method     string             `json:"method"`
	Weighted   bool               `json:"weighted"`        // links count by the values of the matrix
	Seeds      int                `json:"seeds,omitempty"` // nodes of --seeds or --personal
	Alpha      float64            `json:"alpha,omitempty"` // katz
	Damping    float64            `json:"damping"`
	Tol        float64            `json:"tol"`
	Precision  string             `json:"precision"`
	Layout     string             `json:"layout"`
	Weights    string             `json:"weights"`
	Format     string             `json:"format"`
	Dangling   int                `json:"dangling"` // nodes without links
	Iterations int                `json:"iterations"`
	BySegments map[string]int     `json:"iterations_by_segments"` // iterations by the number of segments that they read of each value
	Residual   number             `json:"residual"`
	Converged  bool               `json:"converged"`
	Failure    string             `json:"failure,omitempty"` // why the iterations did not converge
	Phases     rankingPhases      `json:"phases"`
	Seconds    map[string]float64 `json:"seconds_by_segments"`
	Top        []rankedNode       `json:"top"` // hits: authorities
	TopHubs    []rankedNode       `json:"top_hubs,omitempty"`
	Devices    []deviceName       `json:"devices"`
	Ranks      []rankReport       `json:"ranks,omitempty"` // MPI processes; only with several
}

type rankingPhases struct {
	Read    float64 `json:"read_s"`
	Build   float64 `json:"build_s"`   // transpose of the graph, weights, format
	Iterate float64 `json:"iterate_s"` // all iterations
	Convert float64 `json:"convert_s"` // changes of precision
	Total   float64 `json:"total_s"`
}

type rankedNode struct {
	Node  any     `json:"node"` // node id, a number or a text
	Score float64 `json:"score"`
}

// byName returns m with its keys as text, which JSON requires.
func byName[V any](m map[int]V) map[string]V {
	out := map[string]V{}
	for k, v := range m {
		out[strconv.Itoa(k)] = v
	}
	return out
}

// topNodes returns the k nodes of highest score, the lower node first among equal scores. It keeps at most 2k
// candidates.
func topNodes(scores []float64, ids *nodes.IDs, k int) []rankedNode {
	type candidate struct {
		node  int
		score float64
	}
	k = min(k, len(scores))
	var best []candidate
	least := math.Inf(-1)
	choose := func() {
		slices.SortFunc(best, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.node, b.node))
		})
		best = best[:min(k, len(best))]
	}
	for i, s := range scores {
		if k == 0 || s <= least {
			continue
		}
		if best = append(best, candidate{i, s}); len(best) == 2*k {
			choose()
			least = best[k-1].score
		}
	}
	choose()
	top := make([]rankedNode, len(best))
	for i, b := range best {
		top[i] = rankedNode{ids.ID(b.node), b.score}
	}
	return top
}

func (p *pagerank) print(r ranking) error {
	var by []string
	for _, k := range slices.Sorted(maps.Keys(r.BySegments)) {
		by = append(by, fmt.Sprintf("%d with %s", r.BySegments[k], k))
	}
	state := "converged"
	if !r.Converged {
		state = "not converged"
	}
	fmt.Fprintf(p.stdout, "%s  %d nodes, %d links, %d nodes without links\n", r.Matrix.Name, r.Matrix.Rows, r.Matrix.NNZ, r.Dangling)
	how := fmt.Sprintf("%s, %s, weights %s; segments read: %s", r.Precision, r.Format, r.Weights, strings.Join(by, ", "))
	if r.Method != "pagerank" {
		how = r.Method
	}
	fmt.Fprintf(p.stdout, "%s after %d iterations, difference %.3g (%s)\n", state, r.Iterations, float64(r.Residual), how)
	fmt.Fprintf(p.stdout, "read %.4g s, build %.4g s, iterate %.4g s, convert %.4g s\n", r.Phases.Read, r.Phases.Build, r.Phases.Iterate, r.Phases.Convert)
	printRanks(p.stdout, r.Ranks)
	if r.Method == "hits" {
		fmt.Fprintln(p.stdout, "authorities:")
	}
	err := printNodes(p.stdout, r.Top)
	if r.Method == "hits" {
		fmt.Fprintln(p.stdout, "hubs:")
		err = cmp.Or(err, printNodes(p.stdout, r.TopHubs))
	}
	return err
}

func printNodes(w io.Writer, top []rankedNode) error {
	for _, n := range top {
		if _, err := fmt.Fprintf(w, "%10v  %.15g\n", n.Node, n.Score); err != nil {
			return err
		}
	}
	return nil
}
