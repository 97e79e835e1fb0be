package main

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/experiment"
	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// cpuPeersSummary describes cpu-peers, which prints its own lines and runs alone.
const cpuPeersSummary = "time products of binary CSR files on CPU devices, in the columns of other libraries' drivers; --peers adds their times"

// cpuPeers times products and compares them with the table of other libraries.
func (b *benchmark) cpuPeers(ctx context.Context) error {
	if b.mats == "" {
		return sparse.Inputf("--mats", "is missing: name the folder with matrices in binary CSR")
	}
	if b.json {
		return sparse.Inputf("--json", "cpu-peers prints columns as the drivers of other libraries do, no JSON")
	}
	for _, f := range []choice{{"--values", b.values, []string{"asis", "random"}}, {"--value", b.value, []string{"fp64", "fp32"}}} {
		if err := f.check(); err != nil {
			return err
		}
	}
	if b.expected < 0 {
		return sparse.Inputf("--expected", "%d: use 0 or more", b.expected)
	}
	if b.reps < 1 || b.reps > maxRepeat {
		return sparse.Inputf("--reps", "%d: use 1 to %d", b.reps, maxRepeat)
	}
	var theirs []bench.PeerTime
	if b.peers != "" { // fail before the work if the file is bad
		var err error
		if theirs, err = bench.ReadPeerTimes(b.peers); err != nil {
			return err
		}
	}
	p := bench.CPUPeers{Dir: b.mats, Random: b.values == "random", Single: b.value == "fp32", Reps: b.reps, Expected: b.expected, Threads: b.threadCounts()}
	ours, err := p.Run(ctx, b.stdout)
	if err != nil || b.peers == "" && b.out == "" {
		return err
	}
	r := record.New(msrep.Version, b.commandLine("values", "value", "reps"))
	s, err := experiment.New(experiment.Config{Devices: "cpu", Entries: 1}, r)
	if err != nil {
		return err
	}
	if err := s.Run(ctx, []experiment.Experiment{experiment.CPUPeers(ours, theirs)}); err != nil {
		return err
	}
	s.Page.Title = "msrep bench cpu-peers"
	if err := b.write(s.Page, r); err != nil {
		return err
	}
	return printTables(b.stdout, s.Page)
}

// trsvPeersSummary describes trsv-peers, which prints its own lines and runs alone.
const trsvPeersSummary = "time triangular solves with binary CSR files on a CPU device, in the columns of other libraries' drivers"

// trsvPeers times triangular solves.
func (b *benchmark) trsvPeers(ctx context.Context) error {
	if b.mats == "" {
		return sparse.Inputf("--mats", "is missing: name the folder with triangular matrices in binary CSR")
	}
	if b.json {
		return sparse.Inputf("--json", "trsv-peers prints columns as the drivers of other libraries do, no JSON")
	}
	if b.reps < 1 || b.reps > maxRepeat {
		return sparse.Inputf("--reps", "%d: use 1 to %d", b.reps, maxRepeat)
	}
	_, err := bench.TriangularPeers{Dir: b.mats, Transposed: b.transposed, Reps: b.reps, Threads: b.threadCounts()}.Run(ctx, b.stdout)
	return err
}

// threadCounts returns the numbers of --threads, with the number of CPUs for 0; 1 and 2 without the flag.
func (b *benchmark) threadCounts() []int {
	if len(b.counts) == 0 {
		return []int{1, 2}
	}
	counts := slices.Clone(b.counts)
	for k, n := range counts {
		if n == 0 {
			counts[k] = runtime.GOMAXPROCS(0) // the lines name the number of threads
		}
	}
	return counts
}

// regretSummary describes regret, which prints its own lines and runs alone.
const regretSummary = "measure how much slower the chosen forms are than the best ones, on an idle and on a busy machine, with binary CSR files"

// mostBusy is the limit of the number of busy processes.
const mostBusy = 1000

// regret measures the regret of automatic plans.
func (b *benchmark) regret(ctx context.Context) error {
	if b.mats == "" {
		return sparse.Inputf("--mats", "is missing: name the folder with matrices in binary CSR")
	}
	if b.json {
		return sparse.Inputf("--json", "regret prints lines and a table, no JSON")
	}
	if b.expected < 0 {
		return sparse.Inputf("--expected", "%d: use 0 or more", b.expected)
	}
	if b.runs < 1 || b.runs > maxRepeat {
		return sparse.Inputf("--runs", "%d: use 1 to %d", b.runs, maxRepeat)
	}
	if b.limit < 0 {
		return sparse.Inputf("--limit", "%v: use 0 or more", b.limit)
	}
	r := bench.Regret{Dir: b.mats, Runs: b.runs, Limit: b.limit, Expected: b.expected, Threads: b.threadCounts()}
	for _, word := range strings.Split(b.busy, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > mostBusy {
			return sparse.Inputf("--busy", "%q: use numbers from 0 to %d, with commas between them", b.busy, mostBusy)
		}
		r.Busy = append(r.Busy, n)
	}
	_, err := r.Run(ctx, b.stdout)
	return err
}
