package scatter

import (
	"github.com/msrep-go/msrep/internal/simd"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/merge"
	"github.com/msrep-go/msrep/sparse"
)

// Target is where a worker adds its products: to its own stretch of y while most of the entries lie there, and
// otherwise to a vector of its own. In matrices with entries near the diagonal nearly all products go to y directly,
// and only a few elements around the borders of the vector are set to zero and added.
type Target[V sparse.Value] struct {
	y          []V
	beta       V
	first, end int // the worker's own stretch of y
	done       int // elements before it are beta*y plus what was added; the others are still y

	spill  []V // zero between products
	lo, hi int // the stretch of spill that is not zero

	missed int // entries of this run that of did not expect
	away   int // number of runs that go to spill because too many entries were missed before

	_ [64]byte // the next target belongs to another worker
}

// ScaledAhead is the number of elements of y that are multiplied by beta beyond the one that is needed: few enough
// that they are still in the cache when they are needed.
const ScaledAhead = 1 << 13

// targetSample is the number of indices of a run that are read in advance, and the number of its entries that may be
// missed.
const targetSample = 64

// TooManyMissed reports whether so many entries were missed that the run should end. A single worker ends the run at
// the first one, because its stretch grew for it.
func (t *Target[V]) TooManyMissed() bool {
	if t.spill == nil {
		return t.missed > 0
	}
	return t.missed > targetSample
}

// farApart is the distance of successive places that are random in more memory than the cache of a core holds.
const farApart = 1 << 16

// Of returns the vector to which a run of entries with these indices is added, the index of its first element, and
// whether the places are far apart. Indices outside the vector go to miss.
func (t *Target[V]) Of(minors []int32) (to []V, first int, far bool) {
	if t.spill != nil && t.TooManyMissed() {
		t.away = 8
	}
	t.missed = 0
	if t.away > 0 {
		t.away--
	} else if spread, ok := t.near(minors, len(minors)/targetSample+1); ok || t.spill == nil {
		return t.y[t.first:t.done], t.first, spread > farApart
	}
	if t.hi-t.lo < len(t.y) {
		lo, hi := form.MinMax(simd.Default(), minors)
		t.spilled(int(lo), int(hi)+1)
	}
	return t.spill, 0, t.hi-t.lo > farApart
}

// near reports whether every step-th index lies in the worker's own stretch. It multiplies that stretch by beta as
// far as the indices reach and returns how far they are apart.
func (t *Target[V]) near(minors []int32, step int) (spread int, ok bool) {
	least, greatest := t.end, t.first-1
	for k := 0; k < len(minors); k += step {
		i := int(minors[k])
		if i < t.first || i >= t.end {
			return 0, false
		}
		least, greatest = min(least, i), max(greatest, i)
	}
	t.scale(greatest)
	return greatest - least, true
}

// Miss adds v at an index that of did not expect.
func (t *Target[V]) Miss(index int32, v V) {
	i := int(index)
	t.missed++
	if t.spill == nil || t.first <= i && i < t.end {
		t.scale(i)
		t.y[i] += v
		return
	}
	t.spill[i] += v
	t.spilled(i, i+1)
}

// Stretch returns a place to add to for y[lo:hi].
func (t *Target[V]) Stretch(lo, hi int) []V {
	if t.spill == nil || t.first <= lo && hi <= t.end {
		t.scale(hi - 1)
		return t.y[lo:hi]
	}
	t.spilled(lo, hi)
	return t.spill[lo:hi]
}

// scale multiplies the worker's own stretch by beta, at least up to index i.
func (t *Target[V]) scale(i int) {
	if i >= t.done {
		to := min(i+ScaledAhead, t.end)
		merge.Scale(t.y[t.done:to], t.beta)
		t.done = to
	}
}

// spilled records that spill[lo:hi] is no longer zero. The stretch grows in steps, so that it soon covers the whole
// vector where entries lie anywhere.
func (t *Target[V]) spilled(lo, hi int) {
	step := len(t.y)/64 + 1
	lo, hi = max(lo/step*step, 0), min((hi+step-1)/step*step, len(t.y))
	if t.lo == t.hi {
		t.lo, t.hi = lo, hi
	}
	t.lo, t.hi = min(t.lo, lo), max(t.hi, hi)
}

// join finishes y[from:to]: it scales the elements that no worker scaled, adds the workers' own vectors, and clears
// these.
func join[V sparse.Value](targets []Target[V], from, to int64) {
	const block = 1 << 10 // elements that stay in the nearest cache
	for ; from < to; from += block {
		lo, hi := int(from), int(min(from+block, to))
		for i := range targets {
			t := &targets[i]
			if a, b := max(lo, t.done), min(hi, t.end); a < b {
				merge.Scale(t.y[a:b], t.beta)
			}
		}
		for i := range targets {
			t := &targets[i]
			if a, b := max(lo, t.lo), min(hi, t.hi); a < b {
				y, own := t.y[a:b], t.spill[a:b]
				form.StoreRows(simd.Default(), 1, 1, own, y, false)
				clear(own)
			}
		}
	}
}
