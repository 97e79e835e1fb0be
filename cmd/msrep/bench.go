package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/msrep-go/msrep/bench"
	"github.com/msrep-go/msrep/sparse"
)

var benchCommand = &command{
	name: "bench", args: "EXPERIMENT...",
	summary:        "measure: list names the experiments",
	example:        "msrep bench cpu-peers --mats DIR --values random --threads 1,2",
	severalThreads: true,
	setup: func(c *call) func(context.Context) error {
		b := &benchmark{call: c}
		f := c.flags
		f.StringVar(&b.mats, "mats", "", "`DIR` with matrices in binary CSR")
		f.StringVar(&b.values, "values", "asis", "`VALUES` of the matrices: asis or random")
		f.IntVar(&b.reps, "reps", 15, "products that are timed, `N`")
		return b.run
	},
}

type benchmark struct {
	*call
	mats, values string
	reps         int
}

// experiments is what bench knows.
var experiments = map[string]string{
	"cpu-peers": "products on CPU devices over files of binary CSR, in the columns that drivers of other libraries print",
}

func (b *benchmark) run(ctx context.Context) error {
	if len(b.args) == 0 {
		return usageError("no experiment given (see msrep bench list)")
	}
	for _, name := range b.args {
		switch name {
		case "list":
			for name, what := range experiments {
				fmt.Fprintf(b.stdout, "%-12s %s\n", name, what)
			}
		case "cpu-peers":
			if err := b.cpuPeers(ctx); err != nil {
				return err
			}
		case "all", "pellr", "cpms", "gpu-peers":
			return notYet("experiment " + name)
		default:
			if strings.HasPrefix(name, "msrep-fig") {
				return notYet("experiment " + name)
			}
			return sparse.Inputf("experiment", "%q is not known: msrep bench list names them", name)
		}
	}
	return nil
}

func (b *benchmark) cpuPeers(ctx context.Context) error {
	if b.mats == "" {
		return sparse.Inputf("--mats", "is missing: name the folder with matrices in binary CSR")
	}
	if b.values != "asis" && b.values != "random" {
		return sparse.Inputf("--values", "%q is not known: use asis or random", b.values)
	}
	if b.reps < 1 || b.reps > maxRepeat {
		return sparse.Inputf("--reps", "%d: use 1 to %d", b.reps, maxRepeat)
	}
	p := bench.CPUPeers{Dir: b.mats, Random: b.values == "random", Reps: b.reps, Threads: b.counts}
	if len(p.Threads) == 0 {
		p.Threads = []int{1, 2}
	}
	return p.Run(ctx, b.stdout)
}
