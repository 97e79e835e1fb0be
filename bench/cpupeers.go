package bench

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

// CPUPeers times products on CPU devices over files of binary CSR (package bincsr), in
// the columns that the drivers of other libraries print, so that ours and theirs can be
// run in turn and compared.
type CPUPeers struct {
	Dir     string // *.bin
	Random  bool   // replace the values by random ones
	Single  bool   // round values and vectors to float32
	Threads []int
	Reps    int // products that are timed, after three that are not, and others in the place of disturbed ones

	Expected int // msrep.PlanOptions.Expected.Products
}

// Run prints a line for each file and number of threads, and gives the times:
//
//	name msrep threads median-seconds GFLOP/s GB/s min=s runs=undisturbed/all alone=us,us together=us,us prep=s again=s csr=s form=...
//
// The median is that of Reps products in which the system took no CPU from the process, as
// the drivers of other libraries have it: on a shared machine many are disturbed. Where
// fewer than 5 of five times as many, or of those of 5 seconds, were not, all count, marked
// by ~, and their lower quartile stands for the median.
//
// alone and together are the pace of the processor right before the products and right
// after: how long one thread takes for some arithmetic, and all threads at once. Only
// times at the same pace can be compared.
//
// prep is how long the plan took to make, again the same a second time, when the
// system has its memory at hand, and csr a product in plain CSR as the search for a
// form found it (0 where there was no search).
//
// GB/s counts 12 bytes for each nonzero, 4 for each row pointer, 8 for each element
// of x and y (8 and 4 with float32): what plain CSR with 32-bit pointers must move,
// whatever is moved here.
// x and y are slices as make gives them, which is what callers pass.
func (c CPUPeers) Run(ctx context.Context, w io.Writer) (times []PeerTime, err error) {
	files, err := filepath.Glob(filepath.Join(c.Dir, "*.bin"))
	if err != nil || len(files) == 0 {
		return nil, sparse.Inputf(c.Dir, "must be a folder with files *.bin of binary CSR, as msrep convert writes them; it has none")
	}
	for _, f := range files {
		m, err := matio.Read(ctx, f)
		if err != nil {
			return nil, err
		}
		a := m.CSR
		if c.Random {
			rng := rand.New(rand.NewPCG(1, 2))
			for k := range a.Val {
				a.Val[k] = rng.Float64() - 0.5
			}
		}
		for _, threads := range c.Threads {
			name := strings.TrimSuffix(filepath.Base(f), ".bin")
			var t PeerTime
			if c.Single {
				t, err = peerTime(ctx, c, w, name, sparse.Convert[float32](a), threads)
			} else {
				t, err = peerTime(ctx, c, w, name, a, threads)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			times = append(times, t)
		}
	}
	return times, nil
}

func peerTime[V sparse.Value](ctx context.Context, c CPUPeers, w io.Writer, name string, a *sparse.CSR[V], threads int) (out PeerTime, err error) {
	sys, err := msrep.Open(msrep.Config{Devices: "cpu", Threads: threads})
	if err != nil {
		return out, err
	}
	defer sys.Close()
	plan, prep, err := peerPlan(ctx, c, sys, a)
	if err != nil {
		return out, err
	}
	x, y := make([]V, a.Cols), make([]V, a.Rows)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range x {
		x[i] = V(rng.Float64())
	}
	product := func() error {
		err := plan.SpMV(ctx, msrep.NoTrans, 1, x, 0, y)
		return err
	}
	before := paceOf(threads)
	for range 3 {
		if err := product(); err != nil {
			return out, err
		}
	}
	runs, err := timeUndisturbed(c.Reps, product, interrupted)
	if err != nil {
		return out, err
	}
	held := paces(before, paceOf(threads))
	for _, d := range runs.times {
		out.Samples = append(out.Samples, d.Seconds())
	}
	median := runs.typical().Seconds()
	size := mem.Size[V]()
	bytes := (4+size)*a.NNZ() + 4*int64(a.Rows+1) + size*int64(a.Rows+a.Cols)
	form := "csr"
	var csr time.Duration
	for _, p := range plan.Packed(msrep.NoTrans) {
		form = string(p.Form) + " (" + p.Why + ")"
		if len(p.Tried) > 0 {
			csr = p.Tried[0].Product
		}
	}
	if err := plan.Close(); err != nil {
		return out, err
	}
	_, again, err := peerPlan(ctx, c, sys, a)
	if err != nil {
		return out, err
	}
	out.Matrix, out.Library, out.Threads, out.Values, out.Seconds = name, ownName, threads, c.values(), median
	out.Bytes, out.GFLOPs = bytes, 2*float64(a.NNZ())/median*1e-9
	_, err = fmt.Fprintf(w, "%-12s %-18s %d %.9f %7.3f %7.2f  min=%.9f runs=%s %s prep=%.6f again=%.6f csr=%.9f form=%s\n", name, ownName,
		threads, median, out.GFLOPs, float64(bytes)/median*1e-9, runs.times[0].Seconds(), runs, held, prep.Seconds(), again.Seconds(), csr.Seconds(), form)
	return out, err
}

// values says what the values are.
func (c CPUPeers) values() string {
	return map[bool]string{true: "random", false: "as is"}[c.Random] + map[bool]string{true: ", fp32", false: ", fp64"}[c.Single]
}

// peerPlan makes a plan and says how long that took.
func peerPlan[V sparse.Value](ctx context.Context, c CPUPeers, sys *msrep.System, a *sparse.CSR[V]) (*msrep.Plan[V], time.Duration, error) {
	begin := time.Now()
	p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Expected: msrep.Expected{Products: c.Expected}, SkipValidation: true})
	return p, time.Since(begin), err
}
