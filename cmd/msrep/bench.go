package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/bench/experiment"
	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

var benchCommand = &command{
	name: "bench", args: "EXPERIMENT...",
	summary:        "run an experiment: list prints the names, all runs all; compare A.json B.json compares two runs",
	example:        "msrep bench msrep-fig6 --devices cpu:8 --out DIR",
	severalThreads: true,
	ranks:          true,
	setup: func(c *call) func(context.Context) error {
		b := &benchmark{call: c}
		f := c.flags
		f.StringVar(&b.out, "out", "", "write `DIR` with report.html, figures, tables and results.json")
		f.Int64Var(&b.entries, "entries", 4_000_000, "generate matrices with about `N` nonzeros")
		f.IntVar(&b.samples, "samples", 11, "take at least `N` samples of each time")
		f.IntVar(&b.passes, "passes", 3, "divide the samples and the time among `N` passes over the cases of the MSREP paper")
		f.DurationVar(&b.maxTime, "max-time", measure.Default().MaxTime, "stop a case after `TIME`, once it has its samples")
		f.BoolVar(&b.failSlower, "fail-slower", false, "compare: exit with code 1 if a row is slower")
		f.StringVar(&b.mats, "mats", "", "`DIR` with matrices: those of Table 2 by name (HV15R.mtx), small ones for pellr, or binary CSR for cpu-peers, trsv-peers and regret")
		f.StringVar((*string)(&b.cache), "cache", string(experiment.CacheWarm), "`CACHE` state before each timed product: warm or cold")
		f.Int64Var(&b.interpreted, "interpreted", 4<<20, "pellr: interpret products that take at most `N` steps of GPU threads; 0 interprets none")
		f.IntVar(&b.leastSegment, "least-segment", 32, "cpms: with 4 segments read `BITS` of each value first: 32, or 16 as in the paper")
		f.StringVar(&b.results, "results", "", "gpu-peers: `DIR` that scripts/gpu-run wrote, or a folder of such folders (default bench/results)")
		f.StringVar(&b.values, "values", "asis", "cpu-peers: `VALUES` of the matrices, asis or random")
		f.StringVar(&b.value, "value", "fp64", "cpu-peers: `TYPE` of values and vectors: fp64 or fp32")
		f.StringVar(&b.peers, "peers", "", "cpu-peers: `FILE` with the lines of other libraries, for comparison")
		f.IntVar(&b.reps, "reps", 15, "cpu-peers, trsv-peers: time `N` products or solves")
		f.BoolVar(&b.transposed, "transposed", false, "trsv-peers: solve with the transposed matrices")
		f.IntVar(&b.expected, "expected", 0, "cpu-peers, regret: expect `N` products from a plan; 0 means unknown: the search for a form may take twice the time of 100 products")
		f.StringVar(&b.busy, "busy", "0,3", "regret: make plans while `N,...` other processes are busy")
		f.IntVar(&b.runs, "runs", 10, "regret: make `N` plans for each number of busy processes")
		f.DurationVar(&b.limit, "limit", 0, "regret: start no matrix after `TIME`; 0 means no limit")
		return b.run
	},
}

type benchmark struct {
	*call
	out, mats      string
	values, value  string
	results, peers string
	cache          experiment.Cache
	entries        int64
	interpreted    int64
	samples, reps  int
	passes         int
	expected       int
	leastSegment   int
	maxTime        time.Duration
	failSlower     bool
	busy           string
	runs           int
	transposed     bool
	limit          time.Duration
}

func (b *benchmark) run(ctx context.Context) error {
	if b.team != nil {
		return b.runOverRanks(ctx)
	}
	if len(b.args) == 0 {
		return usageError("no experiment given (see msrep bench list)")
	}
	switch b.args[0] {
	case benchRanks:
		return usageError("%s runs under mpirun and needs an msrep built with -tags mpi", benchRanks)
	case "list":
		if len(b.args) > 1 {
			return usageError("bench list takes no further arguments, got %q", b.args[1])
		}
		return b.list()
	case "compare":
		return b.compare()
	case "cpu-peers":
		if err := b.want(1); err != nil {
			return err
		}
		return b.cpuPeers(ctx)
	case "regret":
		if err := b.want(1); err != nil {
			return err
		}
		return b.regret(ctx)
	case "trsv-peers":
		if err := b.want(1); err != nil {
			return err
		}
		return b.trsvPeers(ctx)
	}
	chosen, err := chooseExperiments(b.args)
	if err != nil {
		return err
	}
	return b.experiments(ctx, chosen)
}

// list prints the names that the command takes as its first argument.
func (b *benchmark) list() error {
	type entry struct {
		Name    string `json:"name"`
		Summary string `json:"summary"`
	}
	var all []entry
	for _, e := range experiment.All() {
		all = append(all, entry{e.Name, e.Summary})
	}
	all = append(all, entry{benchRanks, "MATRIX...: products over the ranks of an MPI run"},
		entry{"cpu-peers", cpuPeersSummary},
		entry{"trsv-peers", trsvPeersSummary},
		entry{"regret", regretSummary},
		entry{"all", "every experiment except ranks, cpu-peers, trsv-peers and regret"},
		entry{"compare", "A.json B.json: compare two runs row by row; A1.json,A2.json,... B1.json,...: several runs of each, taken alternately"})
	if b.json {
		return b.printJSON(map[string][]entry{"experiments": all})
	}
	for _, e := range all {
		fmt.Fprintf(b.stdout, "%-12s %s\n", e.Name, e.Summary)
	}
	return nil
}

// chooseExperiments finds experiments by name and returns them in the order of the report.
func chooseExperiments(names []string) (chosen []experiment.Experiment, err error) {
	all := experiment.All()
	for _, name := range names {
		if name == "all" || slices.ContainsFunc(all, func(e experiment.Experiment) bool { return e.Name == name }) {
			continue
		}
		if name == "cpu-peers" || name == "trsv-peers" || name == "regret" {
			return nil, usageError("%s must be the only experiment", name)
		}
		return nil, sparse.Inputf("experiment", "%q is not known: msrep bench list names them", name)
	}
	for _, e := range all {
		if slices.Contains(names, "all") || slices.Contains(names, e.Name) {
			chosen = append(chosen, e)
		}
	}
	return chosen, nil
}

// experiments runs the experiments and reports the results.
func (b *benchmark) experiments(ctx context.Context, chosen []experiment.Experiment) error {
	if b.samples < 1 || b.samples > maxRepeat {
		return sparse.Inputf("--samples", "%d: use 1 to %d", b.samples, maxRepeat)
	}
	if b.maxTime < 0 {
		return sparse.Inputf("--max-time", "%v: use 0 or more", b.maxTime)
	}
	if b.interpreted < 0 {
		return sparse.Inputf("--interpreted", "%d: use 0 or more", b.interpreted)
	}
	if b.passes < 1 {
		return sparse.Inputf("--passes", "%d: use 1 or more", b.passes)
	}
	if len(b.counts) > 0 {
		if len(b.counts) > 1 {
			return sparse.Inputf("--threads", "%d numbers: only cpu-peers, trsv-peers and regret take several", len(b.counts))
		}
		runtime.GOMAXPROCS(b.threads)
	}
	o := measure.Default()
	o.MinSamples, o.MaxSamples, o.MaxTime = b.samples, max(b.samples, o.MaxSamples), b.maxTime
	if b.out != "" { // fail before the work if the folder cannot be made
		if err := os.MkdirAll(b.out, 0o777); err != nil {
			return &sparse.InputError{Subject: "--out", Err: err}
		}
	}
	p := b.progress
	r := record.New(msrep.Version, b.commandLine("devices", "entries", "samples", "max-time", "passes"))
	s, err := experiment.New(experiment.Config{
		Devices: b.devices, Mats: b.mats, Entries: b.entries, Options: o, Passes: b.passes, Progress: p.step,
		Cache: b.cache, Results: b.results, LeastSegment: b.leastSegment, Interpreted: map[bool]int64{true: -1, false: b.interpreted}[b.interpreted == 0],
	}, r)
	if err != nil {
		return err
	}
	err = s.Run(ctx, chosen)
	p.end()
	if err != nil {
		return err
	}
	s.Page.Title = "msrep bench: " + strings.Join(b.args, " ")
	s.Page.Intro = []string{"The charts distinguish the origins of the figures: solid lines and discs are measured on this machine, long dashes and squares are modelled, dots and rings are the paper's, diamonds are counts of the interpreter of GPU code and no times, triangles were measured on another machine."}
	if err := b.write(s.Page, r); err != nil {
		return err
	}
	switch {
	case b.json:
		return b.printJSON(r)
	case b.out != "":
		_, err = fmt.Fprintln(b.stdout, fileio.Inside(b.out, "report.html"))
		return err
	}
	return printTables(b.stdout, s.Page)
}

// write writes the report and the record into the folder of --out, if there is one.
func (b *benchmark) write(p *plot.Page, r *record.Record) error {
	if b.out == "" {
		return nil
	}
	if err := plot.Write(b.out, p); err != nil {
		return err
	}
	return plot.File(fileio.Inside(b.out, "results.json"), r.Write)
}

// commandLine returns arguments that repeat the run: the flags that differ from their defaults, and always those
// named in always. It omits --out, --json and --quiet.
func (b *benchmark) commandLine(always ...string) []string {
	line := append([]string{b.name}, b.args...)
	b.flags.VisitAll(func(f *flag.Flag) {
		given := f.Value.String() != f.DefValue || slices.Contains(always, f.Name)
		if given && !slices.Contains([]string{"out", "json", "quiet"}, f.Name) {
			line = append(line, "--"+f.Name, f.Value.String())
		}
	})
	return line
}
