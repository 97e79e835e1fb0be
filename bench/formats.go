package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// formatTime is what a format costs on the devices of a system.
type formatTime struct {
	Product float64       // nanoseconds; +Inf where the matrix was refused
	Pack    time.Duration // to make the format
}

// rounds in which formats take turns, so that a slow moment hits all of them.
const rounds = 15

// timeFormats times products of a matrix that is multiplied again and again: for
// each format the least of several rounds. Formats that are far behind the best drop
// out.
func timeFormats(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], formats []sparse.Format) ([]formatTime, error) {
	plans := make([]*msrep.Plan[float64], len(formats))
	times := make([]formatTime, len(formats))
	for i, f := range formats {
		times[i].Product = math.Inf(1)
		p, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Format: f, SkipValidation: true, ExpectedProducts: 1000})
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
			behind := times[i].Product / best
			if p == nil || round > 2 && behind > 8 || round > 5 && behind > 1.5 {
				continue
			}
			// One product brings the format back into the caches.
			if _, err := p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
				return nil, err
			}
			begin := time.Now()
			for range turns {
				if _, err := p.SpMV(ctx, msrep.NoTrans, 1, x, 0, y); err != nil {
					return nil, err
				}
			}
			times[i].Product = min(times[i].Product, float64(time.Since(begin))/float64(turns))
			best = min(best, times[i].Product)
		}
	}
	return times, nil
}
