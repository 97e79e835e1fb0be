package measure

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

// noisy draws times around mean like those of a busy machine: skewed, with a drift from start to start and an
// occasional sample that takes twice as long.
func noisy(rng *rand.Rand, n int, mean float64) []float64 {
	start := 1 + 0.01*rng.NormFloat64()
	out := make([]float64, n)
	for i := range out {
		out[i] = mean * start * (1 + 0.05*math.Abs(rng.NormFloat64()))
		if rng.IntN(20) == 0 {
			out[i] *= 2
		}
	}
	return out
}

func TestTwoRunsOfTheSameProgramAreNoDifferenceInNearlyAllRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const rows = 2000
	same, slowed, quicker := 0, 0, 0
	for range rows {
		mean := math.Exp(rng.NormFloat64())
		a := noisy(rng, 25, mean)
		if DefaultJudge().Compare(a, noisy(rng, 25, mean)).Verdict == NoDifference {
			same++
		}
		if DefaultJudge().Compare(a, noisy(rng, 25, 1.1*mean)).Verdict == Slower {
			slowed++
		}
		if DefaultJudge().Compare(noisy(rng, 25, 1.1*mean), a).Verdict == Faster {
			quicker++
		}
	}
	require.Greater(t, same, rows*98/100)
	require.Greater(t, slowed, rows*80/100, "a build slowed by 10 % must be flagged")
	require.Greater(t, quicker, rows*80/100)
}

func TestComparingHoldsItsConfidence(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const rows, ratio = 3000, 1.07
	covered := 0
	for range rows {
		a, b := make([]float64, 15), make([]float64, 20)
		for i := range a {
			a[i] = math.Exp(0.3 * rng.NormFloat64())
		}
		for i := range b {
			b[i] = ratio * math.Exp(0.3*rng.NormFloat64())
		}
		if c := DefaultJudge().Compare(a, b); c.Low <= ratio && ratio <= c.High {
			covered++
		}
	}
	require.InDelta(t, 0.99, float64(covered)/rows, 0.01)
}

func TestTheRankDistributionIsThatOfTables(t *testing.T) {
	var sum float64
	for _, p := range rankSums(5, 6) {
		sum += p
	}
	require.InDelta(t, 1, sum, 1e-12)
	require.InDelta(t, 1.0/252, rankSums(5, 5)[0], 1e-12) // 5 of 10 in one order
	// Critical values for a two-sided level of 1 % (Hollander and Wolfe, table A.6).
	for n, want := range map[int]int{4: 0, 5: 1, 6: 3, 8: 8, 10: 17} {
		require.Equal(t, want, rankBound(n, n, 0.005), "%d and %d samples", n, n)
	}
	sum, exact := 0.0, -1 // where rankBound uses the normal approximation
	for _, p := range rankSums(21, 25) {
		if sum += p; sum > 0.005 {
			break
		}
		exact++
	}
	require.InDelta(t, exact, rankBound(21, 25, 0.005), 2)
}

func TestComparisonsOfAFewSamplesAreThoseMadeByHand(t *testing.T) {
	// The extremes of the 25 ratios bound the interval of 5 and 5 samples.
	c := DefaultJudge().Compare([]float64{1, 1, 1, 2, 2}, []float64{6, 6, 6, 6, 9})
	require.Equal(t, Comparison{Ratio: 6, Low: 3, High: 9, Verdict: Slower}, c)
	require.Equal(t, 9.0, DefaultJudge().Compare([]float64{1, 1, 1}, []float64{9, 9, 9}).Ratio)
	require.Equal(t, math.MaxFloat64, DefaultJudge().Compare([]float64{1, 1, 1}, slices.Repeat([]float64{9}, 50)).High, "one set is too small")
	require.Equal(t, 9.0, DefaultJudge().Compare(slices.Repeat([]float64{1}, 4), slices.Repeat([]float64{9}, 50)).High)

	// The means of pairs of 2, 4 and 8 are 2, 2.8, 4, 4, 5.7 and 8.
	require.InDelta(t, 4, DefaultJudge().ComparePaired([]float64{1, 1, 1}, []float64{2, 4, 8}).Ratio, 1e-12)
	// The extremes bound the ratio of 8 pairs.
	p := DefaultJudge().ComparePaired([]float64{1, 1, 1, 1, 1, 1, 1, 2}, []float64{1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 3.8})
	require.InDelta(t, 1.2, p.Low, 1e-12)
	require.InDelta(t, 1.9, p.High, 1e-12)
	require.Equal(t, Slower, p.Verdict)
}

func TestTheSignedRankBoundIsThatOfTables(t *testing.T) {
	// Critical values for a two-sided level of 1 % (Hollander and Wolfe, table A.4): the
	// statistic is at most k-1.
	for n, want := range map[int]int{7: 0, 8: 1, 10: 4, 12: 8, 15: 16, 20: 38} {
		require.Equal(t, want, signedRankBound(n, 0.005), "%d pairs", n)
	}
	require.Equal(t, 586, signedRankBound(61, 0.005), "61*62/4 - 2.5758*sqrt(61*62*123/24)")
}

func TestPairedComparisonFindsASmallChangeDespiteDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	const trials, ratio = 2000, 1.1
	covered, paired, apart, wrong := 0, 0, 0, 0
	for range trials {
		a, b, same := make([]float64, 10), make([]float64, 10), make([]float64, 10)
		for i := range a {
			busy := math.Exp(0.2 * rng.NormFloat64()) // load during this minute
			noise := func() float64 { return busy * math.Exp(0.02*rng.NormFloat64()) }
			a[i], b[i], same[i] = noise(), ratio*noise(), noise()
		}
		c := DefaultJudge().ComparePaired(a, b)
		if c.Low <= ratio && ratio <= c.High {
			covered++
		}
		if c.Verdict == Slower {
			paired++
		}
		if DefaultJudge().Compare(a, b).Verdict == Slower {
			apart++
		}
		if DefaultJudge().ComparePaired(a, same).Verdict != NoDifference {
			wrong++
		}
	}
	require.InDelta(t, 0.99, float64(covered)/trials, 0.01)
	require.Greater(t, paired, trials*95/100)
	require.Less(t, apart, trials/4, "without pairs the drift hides it")
	require.Zero(t, wrong)
	require.Equal(t, Faster, DefaultJudge().ComparePaired([]float64{2, 2, 2, 2, 2, 2, 2, 2}, []float64{1, 1, 1, 1, 1, 1, 1, 1}).Verdict)
	require.Equal(t, NoDifference, DefaultJudge().ComparePaired([]float64{1, 1, 1}, []float64{2, 2, 2}).Verdict)
	require.Equal(t, NoDifference, DefaultJudge().ComparePaired(nil, nil).Verdict)
}

func TestTooFewSamplesAreNeverADifference(t *testing.T) {
	for _, pair := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{1, 1, 1}, {9, 9, 9}}, {{1, 1, 1, 1}, {9, 9, 9}}} {
		c := DefaultJudge().Compare(pair[0], pair[1])
		require.Equal(t, NoDifference, c.Verdict)
		require.Equal(t, math.MaxFloat64, c.High)
	}
}

func TestTheIntervalHoldsTheMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{6, 11, 40, 101} {
		covered := 0
		const trials = 2000
		for range trials {
			v := make([]float64, n)
			for i := range v {
				v[i] = rng.ExpFloat64()
			}
			if s := Summarize(v); s.Low <= math.Ln2 && math.Ln2 <= s.High {
				covered++
			}
		}
		require.GreaterOrEqual(t, float64(covered)/trials, 0.935, "%d samples", n)
		require.LessOrEqual(t, float64(covered)/trials, 0.995, "%d samples", n)
	}
}

func TestSummariesCountOutliersAndKeepThem(t *testing.T) {
	s := Summarize([]float64{5, 1, 2, 3, 4, 1000})
	require.Equal(t, Summary{N: 6, Median: 3.5, Low: 1, High: 1000, Min: 1, Max: 1000, Outliers: 1}, s)
	require.Equal(t, Summary{}, Summarize(nil))
	require.Equal(t, Summary{N: 1, Median: 7, Low: 7, High: 7, Min: 7, Max: 7}, Summarize([]float64{7}))
	require.True(t, math.IsInf(Summarize([]float64{7}).RelErr(), 1))
	require.Equal(t, 0.5, Summarize([]float64{1, 3}).RelErr())
	require.True(t, math.IsInf(Summarize([]float64{-1, 0, 1}).RelErr(), 1))
	// The quartiles are 3.5 and 6.5: values beyond -5.5 and 15.5 are far out.
	require.Zero(t, Summarize([]float64{-5.5, 3, 4, 5, 6, 7, 15.5}).Outliers)
	require.Equal(t, 2, Summarize([]float64{-5.6, 3, 4, 5, 6, 7, 15.6}).Outliers)
	require.Equal(t, 2.0, LowerQuartile([]float64{5, 1, 4, 2, 3}))
	require.Zero(t, LowerQuartile(nil))
	lo, hi := medianRanks(100_000)
	require.Equal(t, []int{49_689, 50_310}, []int{lo, hi}, "50 000 - 0.98*sqrt(100 000) - 1, and as many from above")
}

func TestRepeatStopsWhenItKnowsEnough(t *testing.T) {
	o := Options{RelErr: 0.5, MinSamples: 7, MaxSamples: 50, MaxTime: time.Minute}
	steady := func() ([]float64, error) { return []float64{1, 2}, nil }
	s, err := Repeat(context.Background(), o, steady)
	require.NoError(t, err)
	require.Equal(t, [][]float64{slices.Repeat([]float64{1}, 7), slices.Repeat([]float64{2}, 7)}, s)

	o.RelErr = 1e-9
	rng := rand.New(rand.NewPCG(7, 8))
	s, err = Repeat(context.Background(), o, func() ([]float64, error) { return []float64{rng.Float64()}, nil })
	require.NoError(t, err)
	require.Len(t, s[0], 50)

	s, err = Repeat(context.Background(), o, func() ([]float64, error) { return []float64{1, 0, rng.Float64()}, nil })
	require.NoError(t, err)
	require.Len(t, s[0], 50, "the last is not known")
	s, err = Repeat(context.Background(), o, func() ([]float64, error) { return []float64{1, 0, 2}, nil })
	require.NoError(t, err)
	require.Len(t, s[0], 7, "nothing is known at once")

	o.MaxTime = 0
	s, err = Repeat(context.Background(), o, func() ([]float64, error) { return []float64{rng.Float64()}, nil })
	require.NoError(t, err)
	require.Len(t, s[0], 7)
}

func TestQuickCallsShareASample(t *testing.T) {
	calls := 0
	o := Options{RelErr: 1, MinSamples: 3, MaxSamples: 3, MinSample: 100 * time.Microsecond}
	for try := 0; try < 20 && calls <= 30; try++ { // a call may be interrupted, and seem to last
		calls = 0
		s, err := Repeat(context.Background(), o, func() ([]float64, error) { calls++; return []float64{1}, nil })
		require.NoError(t, err)
		require.InDeltaSlice(t, []float64{1, 1, 1}, s[0], 1e-9)
	}
	require.Greater(t, calls, 30)

	calls, flushed := 0, 0
	o.Before = func() { flushed++ }
	_, err := Repeat(context.Background(), o, func() ([]float64, error) { calls++; return []float64{1}, nil })
	require.NoError(t, err)
	require.Equal(t, 3, flushed)
	require.Equal(t, 4, calls, "with cold caches every call is a sample")
}

func TestRepeatEndsWithItsErrors(t *testing.T) {
	broken := errors.New("broken")
	_, err := Repeat(context.Background(), Default(), func() ([]float64, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	for _, o := range []Options{{MinSamples: 2, MaxSamples: 1}, {MinSamples: 0, MaxSamples: 1}, {MinSamples: 1, MaxSamples: 1, RelErr: -1}} {
		_, err = Repeat(context.Background(), o, nil)
		require.True(t, sparse.IsInput(err))
	}
	s, err := Repeat(context.Background(), Options{MinSamples: 1, MaxSamples: 1}, func() ([]float64, error) { return []float64{7}, nil })
	require.NoError(t, err)
	require.Len(t, s[0], 1)
	n := 0
	_, err = Repeat(context.Background(), Options{MinSamples: 9, MaxSamples: 9}, func() ([]float64, error) {
		if n++; n == 5 { // after the first samples
			return nil, broken
		}
		return []float64{1}, nil
	})
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(context.Background())
	n = 0
	_, err = Repeat(ctx, Default(), func() ([]float64, error) {
		if n++; n == 5 {
			cancel()
		}
		return []float64{1}, nil
	})
	require.ErrorIs(t, err, context.Canceled)
}

func TestTheMachineIsDescribed(t *testing.T) {
	m := Describe("1.2")
	require.NotNil(t, m.GPUs, "a list in JSON")
	require.NotEmpty(t, m.Go)
	require.Positive(t, m.Cores)
	require.Positive(t, m.Threads)
	require.Positive(t, m.ClockCost)
	require.Less(t, m.ClockCost, 1e-3)
}

func TestReadingAllMemoryTakesTime(t *testing.T) {
	m, err := NewMemory(1 << 20)
	require.NoError(t, err)
	require.EqualValues(t, 1<<20, m.Read())
	require.EqualValues(t, 1<<17, m.sum, "each of the words is 1")
	require.EqualValues(t, 1+2+3+4+5, Sum([]float64{1, 2, 3, 4, 5}))
	require.Zero(t, Sum(nil))
	speed := m.Bandwidth(5)
	require.Greater(t, speed, 1e8)
	require.Less(t, speed, 1e13)
	require.NoError(t, m.Free())
}
