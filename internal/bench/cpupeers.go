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

// CPUPeers times products of binary CSR files (package bincsr) on CPU devices. It prints the columns that the drivers
// of other libraries print, so both can run alternately and be compared.
type CPUPeers struct {
	Dir     string // folder of files *.bin
	Random  bool   // replace the values by random ones
	Single  bool   // round values and vectors to float32
	Threads []int
	Reps    int // timed products, after three untimed ones; a disturbed product is repeated

	Expected int // msrep.PlanOptions.Expected.Products
}

// Run prints one line for each file and number of threads, and returns the times:
//
//	name msrep threads median-seconds GFLOP/s GB/s min=s runs=undisturbed/all alone=us,us together=us,us prep=s again=s csr=s form=...
//
// The median is over Reps undisturbed products, during which the system took no CPU from the process; the drivers of
// other libraries count the same way. On a shared machine many products are disturbed. If fewer than 5 products are
// undisturbed after 5*Reps products or 5 seconds, all products count, ~ marks the line, and the lower quartile
// replaces the median.
//
// alone and together are the pace of the processor just before and just after the products: the time of a fixed
// amount of arithmetic on one thread, and on all threads at once. Only times at the same pace can be compared.
//
// prep is the time to make the plan. again is the time to make it a second time, when the memory is already
// allocated. csr is the time of a product in plain CSR that the search for a form measured, or 0 without a search.
//
// GB/s counts the bytes of plain CSR with 32-bit pointers, whatever form is used: 12 for each nonzero, 4 for each row
// pointer, and 8 for each element of x and y (with float32, 8 for each nonzero and 4 for each element). x and y come from make, as callers usually
// allocate them.
func (c CPUPeers) Run(ctx context.Context, w io.Writer) (times []PeerTime, err error) {
	files, err := filepath.Glob(filepath.Join(c.Dir, "*.bin"))
	if err != nil || len(files) == 0 {
		return nil, sparse.Inputf(c.Dir, "must be a folder with *.bin files of binary CSR, as msrep convert writes them; it has none")
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

// values describes the values.
func (c CPUPeers) values() string {
	return map[bool]string{true: "random", false: "as is"}[c.Random] + map[bool]string{true: ", fp32", false: ", fp64"}[c.Single]
}

// peerPlan makes a plan and returns the time that it took.
func peerPlan[V sparse.Value](ctx context.Context, c CPUPeers, sys *msrep.System, a *sparse.CSR[V]) (*msrep.Plan[V], time.Duration, error) {
	begin := time.Now()
	p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Expected: msrep.Expected{Products: c.Expected}, SkipValidation: true})
	return p, time.Since(begin), err
}
