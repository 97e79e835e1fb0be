package main

import (
	"context"
	"runtime"
	"strconv"
	"strings"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/sparse"
)

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
	r := bench.Regret{Dir: b.mats, Runs: b.runs, Limit: b.limit, Expected: b.expected, Threads: b.counts}
	for _, word := range strings.Split(b.busy, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 || n > mostBusy {
			return sparse.Inputf("--busy", "%q: use numbers from 0 to %d, with commas between them", b.busy, mostBusy)
		}
		r.Busy = append(r.Busy, n)
	}
	if len(r.Threads) == 0 {
		r.Threads = []int{1, 2}
	}
	for k, n := range r.Threads {
		if n == 0 {
			r.Threads[k] = runtime.GOMAXPROCS(0)
		}
	}
	_, err := r.Run(ctx, b.stdout)
	return err
}
