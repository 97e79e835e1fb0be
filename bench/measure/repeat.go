package measure

import (
	"context"
	"slices"
	"time"

	"github.com/msrep-go/msrep/sparse"
)

// Options say how long to measure. Default is right for products of matrices.
type Options struct {
	Warmup     time.Duration // calls that are not timed go on for so long, one at least
	RelErr     float64       // stop when the medians of all quantities are known so well
	MinSamples int
	MaxSamples int
	MaxTime    time.Duration // stop after so long, once there are MinSamples
	// MinSample is the least time of a sample: a call that takes less is made
	// several times for each sample, which is then their mean.
	MinSample time.Duration
	// Before is called before each sample, off the clock: Flush for cold caches.
	Before func()
}

// Default gives medians known to 2 %, within about half a second of calls.
func Default() Options {
	return Options{
		Warmup: 20 * time.Millisecond, RelErr: 0.02, MinSamples: 11, MaxSamples: 101,
		MaxTime: 500 * time.Millisecond, MinSample: time.Millisecond,
	}
}

// maxInner bounds the calls in one sample: a call that takes no time at all must
// not make the sample endless.
const maxInner = 1 << 20

// Repeat calls f until the medians of its quantities are known to o.RelErr, and
// gives the samples of each. f gives the quantities of one call, always equally
// many; Repeat takes the time of a call only to choose how many make a sample.
//
// Errors are those of f and of ctx; options that cannot be are *sparse.InputError.
func Repeat(ctx context.Context, o Options, f func() ([]float64, error)) (samples [][]float64, err error) {
	if o.MinSamples < 1 || o.MaxSamples < o.MinSamples || o.RelErr < 0 {
		return nil, sparse.Inputf("options", "%d to %d samples with a relative error of %g can't be", o.MinSamples, o.MaxSamples, o.RelErr)
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

// known says whether the medians of all quantities are. One that is 0 each time, as of a phase that there is not, is.
func known(samples [][]float64, relErr float64) bool {
	return !slices.ContainsFunc(samples, func(v []float64) bool {
		s := Summarize(v)
		return s.Max > 0 && !(s.RelErr() <= relErr)
	})
}

// warmUp calls f for a while and says how many calls make a sample.
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
	if o.Before != nil || last >= o.MinSample { // a second call would find warm caches
		return 1, nil
	}
	return int(min(o.MinSample/max(last, 1)+1, maxInner)), nil
}

// meanOf calls f and averages.
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
