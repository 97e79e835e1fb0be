package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// formatTime is the cost of a format on the devices of a system.
type formatTime struct {
	Product float64       // nanoseconds, least of all rounds; +Inf if the format refuses the matrix
	Rounds  []float64     // seconds of a product in each round; NaN for a round that skipped the format
	Pack    time.Duration // time to make the format
}

// rounds is the number of rounds. Each round times every format, so a slow moment of the machine affects all formats.
const rounds = 15

// formatTimer times products of a matrix in several formats.
type formatTimer struct {
	sys *msrep.System
	// kernels selects the kernel times that the devices report, instead of the time of the whole call, which on GPUs
	// includes copies of the vectors.
	kernels bool
	// patient skips only formats that are far behind after several rounds, for comparisons of slow formats.
	patient bool
	// before runs before each product, outside the timed interval, to empty the caches. With nil, a product finds the
	// caches as the last product left them.
	before func()
}

// time times products of a in the given formats, alternately. Later rounds skip formats that are far behind the best.
func (t formatTimer) time(ctx context.Context, a *sparse.CSR[float64], formats []sparse.Format) ([]formatTime, error) {
	plans := make([]*msrep.Plan[float64], len(formats))
	times := make([]formatTime, len(formats))
	for i, f := range formats {
		times[i].Product = math.Inf(1)
		p, err := msrep.NewPlan(ctx, t.sys, a, planOptions(f))
		if sparse.IsInput(err) {
			continue // the padding takes too much memory
		}
		if err != nil {
			return nil, fmt.Errorf("format %s: %w", f, err)
		}
		defer p.Close()
		plans[i], times[i].Pack = p, p.Timing().Pack+p.Timing().Convert
	}
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	runtime.GC() // collect the garbage of building now, not between products
	turns := max(2, int(200_000/(1+a.NNZ())))
	best := math.Inf(1)
	for round := range rounds {
		for i, p := range plans {
			if p == nil {
				continue
			}
			behind := times[i].Product / best
			if !t.patient && (round > 2 && behind > 8 || round > 5 && behind > 1.5) || round > 5 && behind > 8 {
				times[i].Rounds = append(times[i].Rounds, math.NaN())
				continue
			}
			nanos, err := t.round(ctx, p, turns, x, y)
			if err != nil {
				return nil, err
			}
			times[i].Rounds = append(times[i].Rounds, nanos/1e9)
			times[i].Product = min(times[i].Product, nanos)
			best = min(best, times[i].Product)
		}
	}
	return times, nil
}

// planOptions returns the options of a plan for many products in one format. cucsr is CSR with cuSPARSE's kernel.
func planOptions(f sparse.Format) msrep.PlanOptions {
	if f == formatCuCSR {
		return msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}, Variant: msrep.Variant{Library: msrep.LibraryCuSPARSE}, SkipValidation: true}
	}
	return msrep.PlanOptions{Storage: msrep.NamedStorage(string(f)), SkipValidation: true}
}

// The rivals of the PELLR paper that only GPUs have.
const (
	formatCSRS  = sparse.Format(kernels.FormCSRScalar)
	formatCSRV  = sparse.Format(kernels.FormCSRVector)
	formatCuCSR = sparse.Format("cucsr")
)

// round returns the mean nanoseconds of the given number of products; of one product if the caches are emptied
// before.
func (t formatTimer) round(ctx context.Context, p *msrep.Plan[float64], turns int, x, y []float64) (float64, error) {
	if t.before != nil {
		t.before()
		turns = 1
	} else if err := p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil { // loads the format into the caches
		return 0, err
	}
	var inKernels time.Duration
	begin := time.Now()
	for range turns {
		if err := p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
			return 0, err
		}
		inKernels += p.LastTiming().Kernel
	}
	if t.kernels {
		return float64(inKernels) / float64(turns), nil
	}
	return float64(time.Since(begin)) / float64(turns), nil
}

// known returns the rounds that did not skip the format.
func known(rounds []float64) (samples []float64) {
	for _, v := range rounds {
		if !math.IsNaN(v) {
			samples = append(samples, v)
		}
	}
	return samples
}
