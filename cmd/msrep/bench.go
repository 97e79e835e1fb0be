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

	"github.com/msrep-go/msrep/bench/experiment"
	"github.com/msrep-go/msrep/bench/measure"
	"github.com/msrep-go/msrep/bench/record"
	pages "github.com/msrep-go/msrep/bench/report"
	"github.com/msrep-go/msrep/internal/fileio"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

var benchCommand = &command{
	name: "bench", args: "EXPERIMENT...",
	summary:        "measure: list names the experiments, all runs them; compare A.json B.json compares two runs",
	example:        "msrep bench msrep-fig6 --devices cpu:8 --out DIR",
	severalThreads: true,
	ranks:          true,
	setup: func(c *call) func(context.Context) error {
		b := &benchmark{call: c}
		f := c.flags
		f.StringVar(&b.out, "out", "", "`DIR` for report.html, figures, tables and results.json")
		f.Int64Var(&b.entries, "entries", 4_000_000, "nonzeros of a generated matrix, about `N`")
		f.IntVar(&b.samples, "samples", 11, "samples of each time, at least `N`")
		f.IntVar(&b.passes, "passes", 3, "passes over the cases of the MSREP paper among which samples and time are shared out, `N`")
		f.DurationVar(&b.maxTime, "max-time", measure.Default().MaxTime, "`TIME` for each case, once it has its samples")
		f.BoolVar(&b.failSlower, "fail-slower", false, "compare: exit with 1 when a row is slower")
		f.StringVar(&b.mats, "mats", "", "`DIR` with matrices: of Table 2 under their names (HV15R.mtx), small ones for pellr, or binary CSR for cpu-peers and regret")
		f.StringVar((*string)(&b.cache), "cache", string(experiment.CacheWarm), "what products find in the `CACHE`s: warm or cold")
		f.Int64Var(&b.interpreted, "interpreted", 4<<20, "pellr: steps of GPU threads that a product may take to be interpreted, `N`; 0 interprets none")
		f.IntVar(&b.leastSegment, "least-segment", 32, "cpms: rankings with 4 segments read `BITS` first: 32, or 16 as in the paper")
		f.StringVar(&b.results, "results", "", "gpu-peers: `DIR` with what scripts/gpu-run wrote, or with such folders; bench/results unless given")
		f.StringVar(&b.values, "values", "asis", "cpu-peers: `VALUES` of the matrices, asis or random")
		f.StringVar(&b.value, "value", "fp64", "cpu-peers: `TYPE` of values and vectors: fp64 or fp32")
		f.StringVar(&b.peers, "peers", "", "cpu-peers: `FILE` with the lines of other libraries, to lay beside ours")
		f.IntVar(&b.reps, "reps", 15, "cpu-peers: products that are timed, `N`")
		f.IntVar(&b.expected, "expected", 0, "cpu-peers, regret: products that a plan is made for, `N`; 0 means that nobody knows: twice the time of 100 to look for a form")
		f.StringVar(&b.busy, "busy", "0,3", "regret: numbers of busy processes beside which plans are made, `N,...`")
		f.IntVar(&b.runs, "runs", 10, "regret: plans for each of these, `N`")
		f.DurationVar(&b.limit, "limit", 0, "regret: begin no matrix after this `TIME`; 0 is no limit")
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
		return usageError("%s runs under mpirun, with a msrep that was built with -tags mpi", benchRanks)
	case "list":
		if len(b.args) > 1 {
			return usageError("bench list takes no more arguments, %q is one", b.args[1])
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
	}
	chosen, err := chooseExperiments(b.args)
	if err != nil {
		return err
	}
	return b.experiments(ctx, chosen)
}

// list prints what the command takes as its first argument.
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
		entry{"regret", regretSummary},
		entry{"all", "all of them but ranks, cpu-peers and regret"},
		entry{"compare", "A.json B.json: two runs, row by row; A1.json,A2.json,... B1.json,...: several of each, made in turn"})
	if b.json {
		return b.printJSON(map[string][]entry{"experiments": all})
	}
	for _, e := range all {
		fmt.Fprintf(b.stdout, "%-12s %s\n", e.Name, e.Summary)
	}
	return nil
}

// chooseExperiments finds experiments by their names, in the order of the report.
func chooseExperiments(names []string) (chosen []experiment.Experiment, err error) {
	all := experiment.All()
	for _, name := range names {
		if name == "all" || slices.ContainsFunc(all, func(e experiment.Experiment) bool { return e.Name == name }) {
			continue
		}
		if name == "cpu-peers" || name == "regret" {
			return nil, usageError("%s runs alone, not beside other experiments", name)
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

// experiments measures and reports.
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
			return sparse.Inputf("--threads", "%d numbers: only cpu-peers and regret take several", len(b.counts))
		}
		runtime.GOMAXPROCS(b.threads)
	}
	o := measure.Default()
	o.MinSamples, o.MaxSamples, o.MaxTime = b.samples, max(b.samples, o.MaxSamples), b.maxTime
	if b.out != "" { // a place that cannot be made is found before the work is done
		if err := os.MkdirAll(b.out, 0o777); err != nil {
			return &sparse.InputError{Subject: "--out", Err: err}
		}
	}
	p := newProgress(b.stderr, b.quiet)
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
	s.Page.Intro = []string{"Figures measured on this machine, modelled ones and those of the paper are kept apart: whole lines and discs are measured here, long dashes and squares modelled, dots and rings the paper's; diamonds are counted by the interpreter of GPU code and are no times; triangles were measured on another machine."}
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

// write writes the report and the record into --out, where there is one.
func (b *benchmark) write(p *pages.Page, r *record.Record) error {
	if b.out == "" {
		return nil
	}
	if err := pages.Write(b.out, p); err != nil {
		return err
	}
	return pages.File(fileio.Inside(b.out, "results.json"), r.Write)
}

// commandLine is the arguments as they can be given again: flags that differ from their defaults, and always those
// that are named. Where the results go is not part of it.
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
