package search

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form"
	"github.com/msrep-go/msrep/kernels/cpu/internal/form/formtest"
	"github.com/msrep-go/msrep/kernels/cpu/internal/forms"
	"github.com/msrep-go/msrep/kernels/cpu/internal/memory"
	"github.com/msrep-go/msrep/kernels/cpu/internal/workers"
)

// costs is a form whose products take a given time by a clock of the test.
type costs struct {
	form.Form[float64]
	product func()
}

func (c costs) Multiply(alpha, beta float64, x, y []float64) {
	c.product()
	c.Form.Multiply(alpha, beta, x, y)
}

// raceOf returns a search on a device with one worker in which csr and another form were timed by products that call
// csr and other, and the form that was taken.
func raceOf(t *testing.T, c forms.Candidate[float64], csr, other func()) (*search[float64], kernels.Form) {
	old := lastCache
	t.Cleanup(func() { lastCache = old })
	lastCache = func() int64 { return 1 << 30 }
	d := open(t, 1)
	op := formtest.BandPart(3000)
	s := newSearch(cutRows(d, op), op)
	require.NoError(t, s.makeVectors())
	// timeCSR, with products of the test
	var err error
	plain := contender[float64]{Candidate: forms.CSR[float64](true)}
	plain.trial, err = s.build(plain.Candidate, s.rows(s.sample), memory.NewArena(d, 1))
	require.NoError(t, err)
	plain.mem, plain.forms[0][0] = nil, costs{plain.forms[0][0], csr}
	plain.product, plain.scatter, err = s.time(plain.trial)
	require.NoError(t, err)
	s.best, s.csr = plain, plain.product
	s.Info.Tried = []kernels.PackTrial{{Form: kernels.FormCSR, Product: s.csr}, {Form: c.Form}}
	build := c.Build
	c.Build = func(r form.Rows[float64]) (form.Form[float64], error) {
		f, err := build(r)
		return costs{f, other}, err
	}
	require.NoError(t, s.try(c, &s.Info.Tried[1]))
	taken := s.best.Form
	require.NoError(t, errors.Join(s.best.mem.Free(), s.vec.Free()))
	return s, taken
}

func diagonalsCandidate(t *testing.T) forms.Candidate[float64] {
	c, err := forms.Named[float64](forms.FormDiagonals, kernels.Segments{}, false)
	require.NoError(t, err)
	c.Cached = forms.Cached{Product: .2, Build: 7}
	return c
}

// A product during which something else had the CPU for a thousand times as long counts as its own CPU time.
func TestTimesWithoutACPUDoNotCount(t *testing.T) {
	var cpu time.Duration // of the only worker
	t.Cleanup(workers.SetThreadTime(func() time.Duration {
		cpu += 100 * time.Nanosecond
		return cpu
	}))
	held := 0
	s, taken := raceOf(t, diagonalsCandidate(t),
		func() { cpu += 50 * time.Microsecond },
		func() {
			cpu += 25 * time.Microsecond
			if held++; held < 40 {
				time.Sleep(2 * time.Millisecond) // the time of day goes on
			}
		})
	require.Equal(t, forms.FormDiagonals, taken)
	require.InDelta(t, 2, float64(s.Info.Tried[0].Product)/float64(s.Info.Tried[1].Product), .1)
	require.Greater(t, s.lostShare(), .5, "the plan states the doubt")
	require.Less(t, s.lostShare(), 1.)
}

// Where the system measures no CPU times, products that are delayed most of the time make two forms look equal, or
// csr the faster one. More rounds are made, and the model decides.
func TestTheModelDecidesWhereTimesScatter(t *testing.T) {
	// Products beside busy processes: each is delayed by a different time.
	clock, rng := time.Time{}, rand.New(rand.NewPCG(1, 2))
	setNow(t, func() time.Time { return clock })
	held := func(product time.Duration) func() {
		return func() {
			clock = clock.Add(product + time.Duration(rng.ExpFloat64()*float64(10*time.Millisecond)))
		}
	}
	const races = 200
	right, doubted := 0, 0
	for range races {
		s, taken := raceOf(t, diagonalsCandidate(t), held(400*time.Microsecond), held(100*time.Microsecond))
		if taken == forms.FormDiagonals {
			right++
		}
		if s.Info.Doubt > .01 {
			doubted++
		}
	}
	t.Log(right, doubted)
	require.Greater(t, right, races*95/100)

	// Times that agree decide between two forms that the model expects to be equal.
	exact := func(product time.Duration) func() {
		return func() { clock = clock.Add(product) }
	}
	c := diagonalsCandidate(t)
	c.Cached.Product = 1
	s, taken := raceOf(t, c, exact(100*time.Microsecond), exact(103*time.Microsecond))
	require.Equal(t, kernels.FormCSR, taken)
	require.Zero(t, s.Info.Doubt)
	_, taken = raceOf(t, c, exact(103*time.Microsecond), exact(100*time.Microsecond))
	require.Equal(t, forms.FormDiagonals, taken)
	c.Cached.Product = .2 // the model does not outvote them
	_, taken = raceOf(t, c, exact(100*time.Microsecond), exact(103*time.Microsecond))
	require.Equal(t, kernels.FormCSR, taken)
}

// These are times measured beside three busy shells: csr 4.98, diagonals 8.06 ms. Quiet ones are 13 to 1.
func TestANoisyTrialDoesNotOutvoteTheModel(t *testing.T) {
	s := &search[float64]{choosing: &choosing[float64]{}, op: &kernels.Packing[float64]{}}
	s.best.Form = kernels.FormCSR
	c := &contender[float64]{Candidate: forms.Candidate[float64]{Form: forms.FormDiagonals, Cached: forms.Cached{Product: .28}}}
	noisy := math.Log(8.06 / 4.98)
	for stderr, want := range map[float64]bool{.5: true, .3: true, .05: false, 0: false} {
		c.verdict = verdict{noisy, stderr}
		require.Equal(t, want, s.replacesBest(c), "times that scatter by %g", stderr)
	}
	c.verdict = verdict{noisy, .05}
	s.wanted, s.lost = 100, 100
	b := s.withModel(c)
	require.Greater(t, b.stderr, .1, "lost CPUs add to the error")
	c.Cached.Product = 0
	c.verdict.stderr = 2
	require.False(t, s.replacesBest(c), "without a model times are all there is")
}

func TestVerdictsAreMediansOfRounds(t *testing.T) {
	v := medianVerdict([]float64{.1, .1, 3, .1, -2, .1})
	require.Equal(t, verdict{.1, 0}, v)
	require.True(t, v.clear())
	v = medianVerdict([]float64{-1, 1, -1, 1})
	require.Zero(t, v.ratio)
	require.Greater(t, v.stderr, .5)
	require.False(t, v.clear())
	require.True(t, verdict{1, .3}.clear())
	// The error is that of a median of normally distributed rounds.
	var normal []float64
	for k := range 1000 {
		normal = append(normal, math.Sqrt2*math.Erfinv(2*(float64(k)+.5)/1000-1))
	}
	v = medianVerdict(normal)
	require.InDelta(t, 0, v.ratio, 1e-3)
	require.InDelta(t, 1.25/math.Sqrt(1000), v.stderr, 1e-3)
}

func TestDoubtIsTheChanceThatABetterFormWasLeft(t *testing.T) {
	s := &search[float64]{choosing: &choosing[float64]{}}
	s.updateDoubt(verdict{.2, 0})
	require.Zero(t, s.Info.Doubt)
	s.updateDoubt(verdict{-.2, .01})
	require.Less(t, s.Info.Doubt, 1e-9)
	s.updateDoubt(verdict{0, .05})
	require.InDelta(t, .16, s.Info.Doubt, .01)
	s.updateDoubt(verdict{.5, .05})
	require.InDelta(t, .16, s.Info.Doubt, .01, "the greatest counts")
}
