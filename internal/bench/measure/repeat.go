package measure

import (
	"context"
	"slices"
	"time"

	"github.com/msrep-go/msrep/sparse"
)

// Options set how long to measure. Default suits products of matrices.
type Options struct {
	Warmup     time.Duration // least duration of the untimed calls, of which there is at least one
	RelErr     float64       // stop when every median is known to this relative error
	MinSamples int
	MaxSamples int
	MaxTime    time.Duration // stop after this time, once there are MinSamples
	// MinSample is the least time of a sample. A sample of a shorter call is the mean of several calls.
	MinSample time.Duration
	// Before runs before each sample, outside the timed interval, for example Memory.Read for cold caches.
	Before func()
}

// Default returns options for medians known to 2 %, after about half a second of calls.
func Default() Options {
	return Options{
		Warmup: 20 * time.Millisecond, RelErr: 0.02, MinSamples: 11, MaxSamples: 101,
		MaxTime: 500 * time.Millisecond, MinSample: time.Millisecond,
	}
}

// maxInner is the limit of calls in one sample. It bounds a sample of a call that takes no measurable time.
const maxInner = 1 << 20

// Repeat calls f until the medians of its quantities are known to o.RelErr, and returns the samples of each quantity.
// f returns the quantities of one call, always the same number. Repeat times the calls itself only to choose the
// number of calls in a sample.
//
// Errors are those of f and of ctx; invalid options are *sparse.InputError.
func Repeat(ctx context.Context, o Options, f func() ([]float64, error)) (samples [][]float64, err error) {
	if o.MinSamples < 1 || o.MaxSamples < o.MinSamples || o.RelErr < 0 {
		return nil, sparse.Inputf("options", "%d to %d samples with a relative error of %g are not possible", o.MinSamples, o.MaxSamples, o.RelErr)
	}
	inner, err := warmUp(ctx, o, f)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for n := 0; n < o.MaxSamples; n++ {
		if n >= o.MinSamples && (time.Since(begin) > o.MaxTime || known(samples, o.RelErr)) {
			break
		}
		if o.Before != nil {
			o.Before()
		}
		mean, err := meanOf(ctx, inner, f)
		if err != nil {
			return nil, err
		}
		if samples == nil {
			samples = make([][]float64, len(mean))
		}
		for k, v := range mean {
			samples[k] = append(samples[k], v)
		}
	}
	return samples, nil
}

// known reports whether the medians of all quantities are known to relErr. A median of 0, as of an absent phase, is
// known.
func known(samples [][]float64, relErr float64) bool {
	return !slices.ContainsFunc(samples, func(v []float64) bool {
		s := Summarize(v)
		return s.Max > 0 && !(s.RelErr() <= relErr)
	})
}

// warmUp calls f for o.Warmup and returns the number of calls in a sample.
func warmUp(ctx context.Context, o Options, f func() ([]float64, error)) (int, error) {
	begin, calls := time.Now(), 0
	var last time.Duration
	for calls == 0 || (time.Since(begin) < o.Warmup && calls < maxInner) {
		call := time.Now()
		if _, err := meanOf(ctx, 1, f); err != nil {
			return 0, err
		}
		last = time.Since(call)
		calls++
	}
	if o.Before != nil || last >= o.MinSample { // the next call would find warm caches
		return 1, nil
	}
	return int(min(o.MinSample/max(last, 1)+1, maxInner)), nil
}

// meanOf returns the means of the quantities over the given number of calls.
func meanOf(ctx context.Context, calls int, f func() ([]float64, error)) (mean []float64, err error) {
	for range calls {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := f()
		if err != nil {
			return nil, err
		}
		if mean == nil {
			mean = make([]float64, len(v))
		}
		for k := range v {
			mean[k] += v[k] / float64(calls)
		}
	}
	return mean, nil
}
