package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/msrep-go/msrep/kernels/cuda/launch"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// formatTime is what a format costs on the devices of a system.
type formatTime struct {
	Product float64       // nanoseconds, the least of all rounds; +Inf where the matrix was refused
	Rounds  []float64     // seconds of a product in each round; NaN where the format sat out
	Pack    time.Duration // to make the format
}

// rounds in which formats take turns, so that a slow moment hits all of them.
const rounds = 15

// formatTimer times products of a matrix in several formats.
type formatTimer struct {
	sys *msrep.System
	// kernels takes the time that the devices say their kernels took, not that of the
	// whole call, which with GPUs has the copies of the vectors in it.
	kernels bool
	// patient lets only formats sit out that are far behind after several rounds: for those
	// who compare the slow ones, too.
	patient bool
	// before is called before each product, off the clock, to empty the caches; nil
	// where products follow each other and find what the last one left there.
	before func()
}

// time times products of a matrix that is multiplied again and again, all formats in
// turn. Formats that are far behind the best sit out the later rounds.
func (t formatTimer) time(ctx context.Context, a *sparse.CSR[float64], formats []sparse.Format) ([]formatTime, error) {
	plans := make([]*msrep.Plan[float64], len(formats))
	times := make([]formatTime, len(formats))
	for i, f := range formats {
		times[i].Product = math.Inf(1)
		p, err := msrep.NewPlan(ctx, t.sys, a, planOptions(f))
		if sparse.IsInput(err) {
			continue // padding takes too much
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
	runtime.GC() // what building left, so that it does not run meanwhile
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

// planOptions makes plans for many products in one format. cucsr is CSR as cuSPARSE
// multiplies it.
func planOptions(f sparse.Format) msrep.PlanOptions {
	if f == formatCuCSR {
		return msrep.PlanOptions{Storage: msrep.Storage{Format: sparse.FormatCSR}, Variant: msrep.Variant{Library: msrep.LibraryCuSPARSE}, SkipValidation: true}
	}
	return msrep.PlanOptions{Storage: msrep.NamedStorage(string(f)), SkipValidation: true}
}

// The rivals of the PELLR paper that GPUs alone have.
const (
	formatCSRS  = sparse.Format(launch.FormCSRScalar)
	formatCSRV  = sparse.Format(launch.FormCSRVector)
	formatCuCSR = sparse.Format("cucsr")
)

// round gives the mean nanoseconds of so many products, one where the caches are
// emptied before.
func (t formatTimer) round(ctx context.Context, p *msrep.Plan[float64], turns int, x, y []float64) (float64, error) {
	if t.before != nil {
		t.before()
		turns = 1
	} else if err := p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil { // brings the format back into the caches
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

// known leaves out the rounds in which a format sat out.
func known(rounds []float64) (samples []float64) {
	for _, v := range rounds {
		if !math.IsNaN(v) {
			samples = append(samples, v)
		}
	}
	return samples
}
