//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"time"

	"github.com/msrep-go/msrep/kernels"
)

// Each form is timed in some spells of products, after others: a GPU that was idle, while
// the host built a form, runs slower at first. Neither lasts longer than this, nor takes
// more of the expected products than time says.
const (
	timedSpells = 3
	spellTime   = time.Millisecond
	warmTime    = 10 * time.Millisecond
)

// time is that of a product of p in the fastest spell. It takes a fiftieth of the
// expected products, and four at least.
func (t *trial[V]) time(p kernels.Packed, form kernels.Form, name string) (best time.Duration, err error) {
	if _, err := t.spell(p, 1); err != nil { // it also loads the kernels, which may take a second
		return 0, err
	}
	warm, most := max(t.op.Products/100, 1), max(t.op.Products/300, 1)
	calls := 1
	for begin, done := time.Now(), 1; done < warm && time.Since(begin) < warmTime; {
		took, err := t.spell(p, calls)
		if err != nil {
			return 0, err
		}
		done += calls
		calls = min(max(int(spellTime/max(took, 1)), 1), most)
	}
	for i := range timedSpells {
		took, err := t.spell(p, calls)
		if err != nil {
			return 0, err
		}
		if i == 0 || took < best {
			best = took
		}
	}
	t.told = append(t.told, fmt.Sprintf("%s %v", name, best.Round(100*time.Nanosecond)))
	tried := kernels.PackTrial{Form: form, Why: name, Product: best, Build: p.Info().Took}
	for _, b := range p.Buffers() {
		tried.Bytes += b.Bytes()
	}
	t.tried = append(t.tried, tried)
	return best, nil
}

// spell is the time of each of some products of p, one behind the other.
func (t *trial[V]) spell(p kernels.Packed, calls int) (time.Duration, error) {
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

// skip notes a form that was not measured.
func (t *trial[V]) skip(form kernels.Form, name, reason string) {
	t.told = append(t.told, fmt.Sprintf("%s not: %s", name, reason))
	t.tried = append(t.tried, kernels.PackTrial{Form: form, Why: name, Skipped: reason})
}
