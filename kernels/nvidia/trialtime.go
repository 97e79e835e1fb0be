//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// Each form is timed in several series of products, after some untimed ones: a GPU that
// was idle while the host built a form runs slower at first. These constants limit the
// time of both; time also limits the fraction of the expected products.
const (
	timedSeries = 3
	seriesTime  = time.Millisecond
	warmTime    = 10 * time.Millisecond
)

// time returns the time of a product of p in the fastest series. It takes a seventieth of
// the expected products, but at least four: up to seven parts are timed.
func (t *trial[V]) time(p kernels.Packed, form kernels.Form, name string) (best time.Duration, err error) {
	if _, err := t.series(p, 1); err != nil { // also loads the kernels, which may take a second
		return 0, err
	}
	warm, most := max(t.op.Products/140, 1), max(t.op.Products/420, 1)
	calls := 1
	for begin, done := time.Now(), 1; done < warm && time.Since(begin) < warmTime; {
		took, err := t.series(p, calls)
		if err != nil {
			return 0, err
		}
		done += calls
		calls = min(max(int(seriesTime/max(took, 1)), 1), most)
	}
	for i := range timedSeries {
		took, err := t.series(p, calls)
		if err != nil {
			return 0, err
		}
		if i == 0 || took < best {
			best = took
		}
	}
	t.times = append(t.times, fmt.Sprintf("%s %v", name, best.Round(100*time.Nanosecond)))
	tried := kernels.PackTrial{Form: form, Why: name, Product: best, Build: p.Info().Took}
	for _, b := range p.Buffers() {
		tried.Bytes += b.Bytes()
	}
	t.tried = append(t.tried, tried)
	return best, nil
}

// series returns the mean time of consecutive products of p.
func (t *trial[V]) series(p kernels.Packed, calls int) (time.Duration, error) {
	op := &kernels.MajorProductPacked[V]{A: p, Alpha: 1, X: t.x, Y: t.y, Carry: t.carry}
	err := t.s.Record(t.start)
	for range calls {
		if err == nil {
			err = t.s.Launch(op)
		}
	}
	if err := errors.Join(err, t.s.Record(t.stop), t.s.Sync()); err != nil {
		return 0, err
	}
	took, err := t.stop.Since(t.start)
	return took / time.Duration(calls), err
}

// skip records a form that was not measured.
func (t *trial[V]) skip(form kernels.Form, name, reason string) {
	t.times = append(t.times, fmt.Sprintf("%s not: %s", name, reason))
	t.tried = append(t.tried, kernels.PackTrial{Form: form, Why: name, Skipped: reason})
}
