package search

import (
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
)

// open returns the memory of a device with that many workers, which is closed when the test ends.
func open(t *testing.T, threads int) *memory.Memory {
	pool := workers.New(threads, workers.DefaultGrain, nil, nil)
	m := memory.New(nil, kernels.Info{ID: "cpu:0", NUMANode: -1}, pool, nil)
	t.Cleanup(func() {
		pool.Close()
		require.NoError(t, m.Close())
	})
	return m
}

// setNow replaces the time of day, and times everything by it, until the test ends. The times of f begin with the
// zero time; one goroutine at a time calls f. If f counts its calls the device should have one worker, as the calls
// of several workers come in any order.
func setNow(t *testing.T, f func() time.Time) { t.Cleanup(workers.SetClock(f)) }

// cutRows is a part cut among the workers, with about as many rows for each.
func cutRows(m *memory.Memory, op *kernels.Packing[float64]) *choosing[float64] {
	n := m.Pool.For(op.Part)
	p := &choosing[float64]{Part: Part[float64]{Part: op.Part, Mem: m, Minors: op.Minors}}
	for i := range n {
		lo, hi := par.Cut(int64(op.Part.Majors()), n, i), par.Cut(int64(op.Part.Majors()), n, i+1)
		from, to := op.Ptr[lo]-op.Ptr[0], op.Ptr[hi]-op.Ptr[0]
		rows := form.Rows[float64]{Ptr: op.Ptr[lo : hi+1], Idx: op.Idx[from:to], Val: op.Val[from:to], Cols: op.Minors}
		p.Bodies = append(p.Bodies, Body[float64]{Rows: rows, First: int(lo)})
	}
	return p
}

// choose is Choose without an error.
func choose(t *testing.T, m *memory.Memory, op *kernels.Packing[float64]) Choice[float64] {
	c, err := Choose(cutRows(m, op).Part, op, nil)
	require.NoError(t, err)
	return c
}

// twoPieces is rows of these lengths as two bodies of one part.
func twoPieces(lengths []int) *choosing[float64] {
	ptr := []int64{0}
	for _, n := range lengths {
		ptr = append(ptr, ptr[len(ptr)-1]+int64(n))
	}
	idx, val := make([]int32, ptr[len(ptr)-1]), make([]float64, ptr[len(ptr)-1])
	for k := range idx {
		idx[k] = int32(k)
	}
	mid := len(lengths) / 2
	p := &choosing[float64]{}
	p.EndIdx = int64(len(idx)) - 1
	for _, c := range [][2]int{{0, mid}, {mid, len(lengths)}} {
		lo, hi := ptr[c[0]], ptr[c[1]]
		p.Bodies = append(p.Bodies, Body[float64]{Rows: form.Rows[float64]{Ptr: ptr[c[0] : c[1]+1], Idx: idx[lo:hi], Val: val[lo:hi], Cols: len(idx)}, First: c[0]})
	}
	return p
}

func TestSamplesAreStretchesOfTheRowsThatTheyName(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		lengths := make([]int, 2+rng.IntN(200))
		for i := range lengths {
			lengths[i] = rng.IntN(8) * rng.IntN(2)
			if rng.IntN(50) == 0 {
				lengths[i] = 500
			}
		}
		p := twoPieces(lengths)
		share := []float64{.05, .3, 1}[round%3]
		for i, all := range cut(p, share, 3, 2) {
			require.NotEmpty(t, all)
			body, first := p.Bodies[i].Rows, p.Bodies[i].First
			held := 0
			for _, s := range all {
				n := len(s.rows.Ptr) - 1
				held += len(s.rows.Idx)
				require.Len(t, s.rows.Idx, int(s.rows.Ptr[n]-s.rows.Ptr[0]))
				require.Len(t, s.rows.Val, len(s.rows.Idx))
				for r := range n {
					lo, hi := s.rows.Ptr[r], s.rows.Ptr[r+1]
					row := s.y - first + r
					require.GreaterOrEqual(t, lo, body.Ptr[row])
					require.LessOrEqual(t, hi, body.Ptr[row+1])
					if lo < hi {
						require.Equal(t, int32(lo), s.rows.Idx[lo-s.rows.Ptr[0]], "the entries of the row")
					}
				}
			}
			if share == 1 {
				require.Len(t, body.Idx, held)
			}
		}
	}
}

func TestALongRowHasItsFractionOfASample(t *testing.T) {
	lengths := make([]int, 2000)
	for i := range lengths {
		lengths[i] = 1
	}
	lengths[100] = 100_000
	p := twoPieces(lengths)
	s := cut(p, .1, 1, 1)[0][0]
	require.InDelta(t, 10_000, len(s.rows.Idx), 200)
	require.Equal(t, 100, s.y, "of the only row that matters")
}

func TestTheFormOfALargePartIsChosenOnASample(t *testing.T) {
	old := lastCache
	t.Cleanup(func() { lastCache = old })
	lastCache = func() int64 { return 64 << 10 }
	const n = 30_000
	d := open(t, 2)
	op := formtest.BandPart(n)
	op.Products = 1_000_000 // the number of products allows any form
	clock, step := time.Time{}, time.Second
	setNow(t, func() time.Time { // each reading takes less time than the one before, so forms tried after csr are faster
		step -= step / 16
		clock = clock.Add(step)
		return clock
	})
	a := choose(t, d, op)
	info := a.Info
	require.NotEqual(t, kernels.FormCSR, info.Form)
	require.Contains(t, info.Why, "on a sample of ")
	require.Equal(t, info.Bytes, d.InUse(), "what was tried is freed")
	for _, tried := range info.Tried {
		require.True(t, tried.Product > 0 || tried.Skipped != "", tried.Form)
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	for i, f := range a.Forms {
		r := cutRows(d, op).Bodies[i]
		f.Multiply(1, 0, x, y[r.First:r.First+len(r.Ptr)-1])
	}
	for r := range n {
		sum := 0.0
		for k := op.Ptr[r]; k < op.Ptr[r+1]; k++ {
			sum += op.Val[k] * x[op.Idx[k]]
		}
		require.InDelta(t, sum, y[r], 1e-9*n)
	}
	require.NoError(t, a.Arena.Free())
}

// slow is a form with longer products.
type slow struct{ form.Form[float64] }

func (s slow) Multiply(alpha, beta float64, x, y []float64) {
	time.Sleep(10 * time.Millisecond)
	s.Form.Multiply(alpha, beta, x, y)
}

// A form may fail for rows that are not in the sample, or for lack of memory. No memory is held then.
func TestAFormThatCannotBeBuiltWholeHoldsNoMemory(t *testing.T) {
	old := lastCache
	t.Cleanup(func() { lastCache = old })
	lastCache = func() int64 { return 64 << 10 }
	const n = 30_000
	broken := errors.New("broken")
	for _, failure := range []error{sparse.Inputf("matrix", "does not suit"), kernels.ErrOutOfMemory, broken} {
		d := open(t, 1)
		op := formtest.BandPart(n)
		op.Products = 1_000_000
		p := cutRows(d, op)
		s := newSearch(p, op)
		require.NoError(t, s.makeVectors())
		require.NoError(t, s.timeCSR())
		c, err := forms.Named[float64](forms.FormSlices, kernels.Segments{}, false)
		require.NoError(t, err)
		build := c.Build
		c.Build = func(r form.Rows[float64]) (form.Form[float64], error) {
			f, err := build(r)
			if len(r.Ptr) == n+1 {
				return nil, failure
			}
			return f, err
		}
		s.best.product, s.csr = time.Hour, time.Hour // c is faster and repays its building, whatever the clock says
		s.best.forms[0][0] = slow{s.best.forms[0][0]}
		s.Info.Tried = append(s.Info.Tried, kernels.PackTrial{Form: c.Form})
		require.NoError(t, s.try(c, &s.Info.Tried[1]))
		require.Equal(t, forms.FormSlices, s.best.Form)

		err = s.finish()
		if failure == broken {
			require.ErrorIs(t, err, broken)
			require.Zero(t, d.InUse())
		} else {
			require.NoError(t, err)
			require.Equal(t, kernels.FormCSR, p.Info.Form)
			require.Equal(t, "slices suits only a sample of the rows", p.Info.Why)
			require.Equal(t, p.Info.Bytes, d.InUse())
			require.NoError(t, p.Arena.Free())
		}
	}
}

// One delay of the machine, longer than any budget and at any moment, leaves out no form.
func TestOneDelayDoesNotDecideWhatIsTried(t *testing.T) {
	oldCache, oldBudget := lastCache, DefaultBudget
	t.Cleanup(func() { lastCache, DefaultBudget = oldCache, oldBudget })
	d := open(t, 1)
	op := formtest.BandPart(3000)
	for cache, budget := range map[int64]time.Duration{8 << 10: 0, 1 << 30: 100 * time.Millisecond} { // the part is sampled, and it is not
		lastCache, DefaultBudget = func() int64 { return cache }, budget
		calls := 0
		for held := 0; held <= calls; held++ {
			clock := time.Time{}
			calls = 0
			setNow(t, func() time.Time {
				if clock = clock.Add(time.Millisecond); calls == held {
					clock = clock.Add(time.Hour)
				}
				calls++
				return clock
			})
			a := choose(t, d, op)
			require.Greater(t, len(a.Info.Tried), 2)
			for _, tried := range a.Info.Tried {
				require.NotContains(t, tried.Skipped, "building it would take", "%s, delayed at reading %d of the clock", tried.Form, held)
			}
			require.NoError(t, a.Arena.Free())
		}
		require.Greater(t, calls, 20)
	}
}

// Nor does a delay of a few milliseconds, for a part in the caches with few expected products.
func TestADelayOfMillisecondsDoesNotDecideForCSR(t *testing.T) {
	oldCache := lastCache
	t.Cleanup(func() { lastCache = oldCache })
	lastCache = func() int64 { return 1 << 30 }
	d := open(t, 1)
	op := formtest.BandPart(3000)
	op.Products = 100
	const ofCSR = 2 + 2 + (2 + 2) + (2 + 2*2) // readings of the clock to look at the rows and to build and time csr
	for held := range ofCSR + 8 {
		clock, calls := time.Time{}, 0
		setNow(t, func() time.Time {
			step := 2 * time.Millisecond
			if calls >= ofCSR { // other forms are twice as fast
				step /= 2
			}
			if held <= calls && calls < held+6 {
				step *= 40
			}
			clock = clock.Add(step)
			calls++
			return clock
		})
		a := choose(t, d, op)
		tried := a.Info.Tried
		require.Greater(t, len(tried), 1)
		require.Less(t, tried[1].Product, tried[0].Product, "%s, delayed from reading %d of the clock on: %s", tried[1].Form, held, tried[1].Skipped)
		require.NotEqual(t, kernels.FormCSR, a.Info.Form, "delayed from reading %d of the clock on", held)
		require.NoError(t, a.Arena.Free())
	}
}

// Nor does a delay that begins while a form is built and lasts while the form is timed twice.
func TestADelayThatBeganAfterCSRWasTimedDoesNotDecideForIt(t *testing.T) {
	oldCache := lastCache
	t.Cleanup(func() { lastCache = oldCache })
	lastCache = func() int64 { return 1 << 30 }
	d := open(t, 1)
	op := formtest.BandPart(3000)
	op.Products = 100
	p := cutRows(d, op)
	s := newSearch(p, op)
	clock, step := time.Time{}, time.Millisecond
	setNow(t, func() time.Time {
		clock = clock.Add(step)
		return clock
	})
	require.NoError(t, s.makeVectors())
	require.NoError(t, s.timeCSR())
	step *= 3
	c, err := forms.Named[float64](forms.FormSlices, kernels.Segments{}, false)
	require.NoError(t, err)
	s.Info.Tried = append(s.Info.Tried, kernels.PackTrial{Form: c.Form})
	require.NoError(t, s.try(c, &s.Info.Tried[1]))
	require.Equal(t, c.Form, s.best.Form)
	require.NoError(t, errors.Join(s.best.mem.Free(), s.vec.Free()))
	require.Zero(t, d.InUse())
}

// Nor does a delay that lasts until a form and the first round after that have been timed.
func TestADelayThatIsNotOverDoesNotDecideForCSR(t *testing.T) {
	oldCache := lastCache
	t.Cleanup(func() { lastCache = oldCache })
	lastCache = func() int64 { return 1 << 30 }
	d := open(t, 1)
	op := formtest.BandPart(3000)
	p := cutRows(d, op)
	s := newSearch(p, op)
	require.True(t, s.cached())
	var calls, built atomic.Int64 // readings of the clock, and those before the form was built last
	built.Store(math.MaxInt64 / 2)
	clock := time.Time{}
	setNow(t, func() time.Time {
		step := 200 * time.Microsecond
		if n := calls.Add(1) - built.Load(); n > 0 && n <= 25 { // 1 to build, 14 to time, 10 of the round
			step *= 3
		}
		clock = clock.Add(step)
		return clock
	})
	require.NoError(t, s.makeVectors())
	require.NoError(t, s.timeCSR())
	c, err := forms.Named[float64](forms.FormSlices, kernels.Segments{}, false)
	require.NoError(t, err)
	build := c.Build
	c.Build = func(r form.Rows[float64]) (form.Form[float64], error) {
		if int64(len(r.Idx)) > entries(s.sample)/4 { // the rows of a worker
			built.Store(calls.Load())
		}
		return build(r)
	}
	s.Info.Tried = append(s.Info.Tried, kernels.PackTrial{Form: c.Form})
	require.NoError(t, s.try(c, &s.Info.Tried[1]))
	require.Equal(t, s.Info.Tried[0].Product, s.Info.Tried[1].Product)
	require.NoError(t, errors.Join(s.best.mem.Free(), s.vec.Free()))
	require.Zero(t, d.InUse())
}

// In the caches the model decides whether a form is tried, and nothing is built to see how long building takes.
func TestInTheCachesAFormIsBuiltOnceIfItMayRepay(t *testing.T) {
	d := open(t, 2)
	op := formtest.BandPart(3000)
	op.Products = 100
	for _, i := range []struct {
		spent, best float64 // products of csr: 30 may be spent
		want        bool
	}{{5, 1, true}, {25, 1, false}, {5, .4, false}} {
		p := cutRows(d, op)
		s := newSearch(p, op)
		require.True(t, s.brief())
		require.NoError(t, s.makeVectors())
		require.NoError(t, s.timeCSR())
		c, err := forms.Named[float64](forms.FormSlices, kernels.Segments{}, false)
		require.NoError(t, err)
		c.Cached = forms.Cached{Product: .5, Build: 10}
		var built atomic.Int64
		build := c.Build
		c.Build = func(r form.Rows[float64]) (form.Form[float64], error) {
			built.Add(int64(len(r.Idx)))
			return build(r)
		}
		s.csr, s.best.product = s.csr+1000, time.Duration(i.best*float64(s.csr+1000)) // which is more than 0
		s.spent = time.Duration(i.spent * float64(s.csr))
		before := s.spent
		s.Info.Tried = append(s.Info.Tried, kernels.PackTrial{Form: c.Form})
		err = s.try(c, &s.Info.Tried[1])
		if i.want {
			require.NoError(t, err)
			require.Positive(t, s.Info.Tried[1].Product)
			require.Greater(t, s.spent-before, s.Info.Tried[1].Build, "that, and some products")
			require.Equal(t, entries(s.sample), built.Load(), "each worker its rows, once")
		} else {
			require.ErrorContains(t, err, "not likely to repay")
			require.Zero(t, built.Load())
		}
		require.NoError(t, errors.Join(s.best.mem.Free(), s.vec.Free()))
	}
	require.Zero(t, d.InUse())
}

func TestASearchIsBriefInTheCachesForAStatedNumberOfProducts(t *testing.T) {
	old := lastCache
	t.Cleanup(func() { lastCache = old })
	d := open(t, 1)
	op := formtest.BandPart(3000)
	for _, c := range []struct {
		cache    int64
		products int
		want     bool
	}{{1 << 30, 100, true}, {1 << 30, 0, false}, {200 << 10, 100, false}} {
		lastCache = func() int64 { return c.cache }
		op.Products = c.products
		p := cutRows(d, op)
		s := newSearch(p, op)
		require.EqualValues(t, 1, s.fraction)
		require.Equal(t, c.want, s.brief())
		if c.want { // it may spend a quarter of the rest on paired timing
			s.csr = time.Millisecond
			var a contender[float64]
			a.product, s.best.product = s.csr, s.csr
			left := 4 * pairedRounds * (2*trialTime + 2*settlingProducts*s.csr)
			s.spent = s.budget(a.Candidate) - left
			require.True(t, s.affordsPairedTiming(&a, 1))
			s.spent++
			require.False(t, s.affordsPairedTiming(&a, 1))
		}
	}
}

// If the budget suffices for one form only, it is the best one.
func TestInTheCachesTheFormOfTheShortestProductIsTriedFirst(t *testing.T) {
	old := lastCache
	t.Cleanup(func() { lastCache = old })
	d := open(t, 2)
	const rows, cols, entries = 2000, 400_000, 20
	op := &kernels.Packing[float64]{Part: partition.Part{EndMajor: rows - 1, OwnEnd: rows, EndIdx: rows*entries - 1}, Ptr: []int64{0}, Minors: cols, InPlace: true}
	rng := rand.New(rand.NewPCG(1, 2))
	for range rows {
		for k := range entries {
			op.Idx, op.Val = append(op.Idx, int32(k*cols/entries+rng.IntN(cols/entries))), append(op.Val, rng.Float64())
		}
		op.Ptr = append(op.Ptr, int64(len(op.Idx)))
	}
	for cache, first := range map[int64]kernels.Form{1 << 30: forms.FormSlices, 8 << 10: forms.FormTiles} {
		lastCache = func() int64 { return cache }
		p := cutRows(d, op)
		c, err := newSearch(p, op).candidates()
		require.NoError(t, err)
		require.Equal(t, first, c[0].Form)
	}
}

func TestInTheCachesAFormIsTriedForAnUnknownNumberOfProductsIfItMayBeFaster(t *testing.T) {
	d := open(t, 1)
	op := formtest.BandPart(3000)
	p := cutRows(d, op)
	s := newSearch(p, op)
	s.csr = time.Millisecond
	c := forms.Candidate[float64]{Form: forms.FormTiles, Cached: forms.Cached{Product: .8, Build: 16}}
	for best, want := range map[time.Duration]bool{s.csr: true, s.csr * 8 / 10: true, s.csr / 2: false} {
		s.best.Form, s.best.product = forms.FormSlices, best
		if err := s.mayRepay(c); want {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "not likely to be faster than slices")
		}
	}
}

func TestLookingForFormsCountsUpToABound(t *testing.T) {
	clock := time.Time{}
	setNow(t, func() time.Time {
		clock = clock.Add(time.Millisecond)
		return clock
	})
	d := open(t, 1)
	op := formtest.BandPart(3000)
	spent := func(looked time.Duration) time.Duration {
		p := cutRows(d, op)
		s := newSearch(p, op)
		_, err := s.candidates()
		require.NoError(t, err)
		require.Equal(t, op.Products > 0, s.looked > 0, "without a stated number of products it is not counted")
		s.looked = looked
		require.NoError(t, s.makeVectors())
		require.NoError(t, s.timeCSR())
		require.NoError(t, s.vec.Free())
		if looked > time.Second {
			return s.spent - longestLook*s.csr
		}
		return s.spent - looked
	}
	spent(0)
	op.Products = 100
	none := spent(0)
	require.Equal(t, none, spent(time.Millisecond))
	require.Equal(t, none, spent(time.Hour))
}

func TestAFormThatIsNotClearlySlowerMayWin(t *testing.T) {
	form := func(name kernels.Form, product time.Duration) *contender[float64] {
		c := &contender[float64]{product: product}
		if c.Form = name; name == forms.FormSlices {
			c.SteadierThan = forms.FormTiles
		}
		return c
	}
	s := &search[float64]{choosing: &choosing[float64]{}, op: &kernels.Packing[float64]{}}
	wins := func(name kernels.Form, product time.Duration, best kernels.Form) bool {
		s.best = *form(best, 700)
		c := form(name, product)
		c.verdict.ratio = math.Log(float64(product) / 700)
		return s.replacesBest(c)
	}
	for product, want := range map[time.Duration]bool{600: true, 700: true, 770: true, 771: false} {
		require.Equal(t, want, wins(forms.FormSlices, product, forms.FormTiles), product)
	}
	require.True(t, wins(forms.FormTiles, 636, forms.FormSlices), "it is clearly faster")
	require.False(t, wins(forms.FormTiles, 637, forms.FormSlices))
	require.True(t, wins(forms.FormBlocks, 699, forms.FormTiles))
	require.False(t, wins(forms.FormBlocks, 700, forms.FormTiles))
	require.False(t, wins(forms.FormSlices, 700, kernels.FormCSR))

	s.op.Products = 100
	require.True(t, s.brief())
	require.True(t, wins(forms.FormSlices, 800, kernels.FormCSR), "it is still on its way to the caches")
	require.False(t, wins(forms.FormSlices, 801, kernels.FormCSR))
	require.False(t, wins(forms.FormTiles, 700, forms.FormSlices))
}

func TestWhyRowsStayInCSRNamesTheFormsThatWereSlower(t *testing.T) {
	trials := []kernels.PackTrial{{Form: "csr", Product: 2}, {Form: "blocks", Product: 3}, {Form: "blocks", Product: 3}, {Form: "diagonals", Product: 4}, {Form: "slices", Skipped: "x"}}
	for want, s := range map[string]search[float64]{
		"blocks was slower; diagonals was slower; slices was not tried: x": {choosing: &choosing[float64]{Choice: Choice[float64]{Info: kernels.PackInfo{Tried: trials}}}, left: "slices was not tried: x"},
		"blocks was slower":                    {choosing: &choosing[float64]{Choice: Choice[float64]{Info: kernels.PackInfo{Tried: trials[:3]}}}},
		"no other form is likely to be faster": {choosing: &choosing[float64]{Choice: Choice[float64]{Info: kernels.PackInfo{Tried: trials[:1]}}}},
	} {
		require.Equal(t, want, s.whyCSR())
	}
}

func TestAStatedNumberOfProductsBoundsTheSearchAndNoneDoesNot(t *testing.T) {
	old := DefaultBudget
	t.Cleanup(func() { DefaultBudget = old })
	DefaultBudget = time.Hour
	d := open(t, 1)
	op := formtest.BandPart(2000)
	op.Products = 2
	a := choose(t, d, op)
	require.Equal(t, kernels.FormCSR, a.Info.Form)
	require.Equal(t, "2 products do not repay the search for another form", a.Info.Why)
	require.Empty(t, a.Info.Tried)
	require.NoError(t, a.Arena.Free())
	for products, tried := range map[int]bool{forms.FewestCached - 1: false, forms.FewestCached: true} {
		op.Products = products
		a = choose(t, d, op)
		require.Equal(t, tried, len(a.Info.Tried) > 0)
		require.NoError(t, a.Arena.Free())
	}
	oldCache := lastCache
	t.Cleanup(func() { lastCache = oldCache })
	lastCache = func() int64 { return 8 << 10 } // it is sampled
	op.Products = forms.Fewest - 1
	a = choose(t, d, op)
	require.Empty(t, a.Info.Tried)
	require.NoError(t, a.Arena.Free())
	clock, step := time.Time{}, time.Microsecond
	undo := workers.SetClock(func() time.Time { // what follows csr takes longer
		step += step / 4
		clock = clock.Add(step)
		return clock
	})
	op.Products = forms.Fewest
	a = choose(t, d, op)
	require.Equal(t, kernels.FormCSR, a.Info.Form)
	require.Contains(t, a.Info.Why, "was not tried: building it would take ")
	require.NoError(t, a.Arena.Free())
	undo()
	op.Products = math.MaxInt
	a = choose(t, d, op)
	for _, tried := range a.Info.Tried[1:] {
		require.NotContains(t, tried.Skipped, "too short", "so many products repay any search")
	}
	require.NoError(t, a.Arena.Free())
	lastCache = oldCache
	op.Products = 0
	a = choose(t, d, op)
	require.Empty(t, a.Info.Tried[1].Skipped, "whatever the time of a product")
	for _, tried := range a.Info.Tried[1:] {
		require.NotContains(t, tried.Skipped, "products")
	}
	require.NoError(t, a.Arena.Free())
}

// A long x does not stay in the caches although the entries would fit.
func TestRowsAreCachedWithTheirX(t *testing.T) {
	old := lastCache
	t.Cleanup(func() { lastCache = old })
	d := open(t, 1)
	op := formtest.BandPart(3000)
	p := cutRows(d, op)
	s := newSearch(p, op)
	entries := 12 * op.Part.NNZ()
	lastCache = func() int64 { return entries + 8*3000 }
	require.True(t, s.cached())
	s.Minors = 3001
	require.False(t, s.cached())
	s.Minors = math.MaxInt32
	lastCache = func() int64 { return entries + 64*op.Part.NNZ() }
	require.True(t, s.cached(), "an entry reads a line of x at most")
}

func TestBesideAMuchFasterFormOnlyThoseThatReadLessAreTried(t *testing.T) {
	op := formtest.BandPart(2000)
	s := newSearch(cutRows(open(t, 1), op), op)
	built := errors.New("built")
	s.csr = time.Millisecond
	for _, c := range []struct {
		times       time.Duration // of the best form, over csr
		best, bytes float64
		tried       bool
	}{{muchFaster - 1, 0, 0, true}, {muchFaster + 1, 0, 0, false}, {muchFaster + 1, 4, 6, false}, {muchFaster + 1, 4, 2, true}} {
		s.best = contender[float64]{product: s.csr / c.times, Candidate: forms.Candidate[float64]{Form: "diagonals", Bytes: c.best}}
		candidate := forms.Candidate[float64]{Form: forms.FormSlices, Bytes: c.bytes, Build: func(form.Rows[float64]) (form.Form[float64], error) { return nil, built }}
		err := s.try(candidate, &kernels.PackTrial{})
		if c.tried {
			require.ErrorIs(t, err, built)
		} else {
			require.ErrorContains(t, err, "diagonals is 5.0 times as fast as csr")
		}
	}
}
