package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/measure"
	"github.com/msrep-go/msrep/sparse"
)

func write(t *testing.T, r *Record) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.Write(&b))
	path := filepath.Join(t.TempDir(), "results.json")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	r := New("1.2", []string{"bench", "x"})
	r.Add("x", "banded csr", "kernel", []float64{0.25, 0.5, 0.125})
	r.AddModelled("x", "banded csr", "h2d", 0.75)
	back, err := Read(write(t, r))
	require.NoError(t, err)
	require.Equal(t, r.Rows, back.Rows)
	require.Equal(t, r.Machine, back.Machine)
	require.Equal(t, 0.25, back.Rows[0].Median)
}

func TestSamplesOfOneNameAreAddedUp(t *testing.T) {
	r := New("1.2", nil)
	first := []float64{1, 2}
	r.Add("x", "a", "kernel", first)
	r.AddCounted("x", "a", "sectors", 7)
	row := r.Add("x", "a", "kernel", []float64{9})
	r.Moves(80)
	require.Equal(t, []float64{1, 2, 9}, row.Samples)
	require.Equal(t, 2.0, row.Median)
	require.Equal(t, []float64{1, 2}, first)
	require.Len(t, r.Rows, 2)
	require.EqualValues(t, 80, r.Rows[0].Bytes)
	r.Machine.Bandwidth = 400
	r.Machine.L3 = 20
	r.JudgeBytes(true)
	require.False(t, r.Rows[0].Cached)
	r.JudgeBytes(false)
	require.True(t, r.Rows[0].Cached, "80 bytes are four times 20")
	r.Machine.L3 = 19
	r.JudgeBytes(false)
	require.False(t, r.Rows[0].Cached)
	require.Equal(t, 0.1, r.Rows[0].OfBandwidth)
	require.Zero(t, r.Rows[1].OfBandwidth)

	r.Add("x", "b", "kernel", []float64{0})
	r.Moves(8)
	require.EqualValues(t, 8, r.Rows[2].Bytes, "those of the last")
	require.EqualValues(t, 80, r.Rows[0].Bytes)
	r.Rows[1].Bytes = 9 // a count, not a time
	r.JudgeBytes(false)
	r.Machine.Bandwidth = 0
	r.JudgeBytes(false)
	for i, want := range []float64{0.1, 0, 0} {
		require.Equal(t, want, r.Rows[i].OfBandwidth)
	}
}

func TestFilesThatAreNoRecordsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	for _, text := range []string{"", "[]", `{"schema":2}`, `{}`, `{"schema":1,"rows":[{"samples":[-1]}]}`, "\x00"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Read(path)
		require.True(t, sparse.IsInput(err), "%q", text)
		require.ErrorContains(t, err, path)
	}
	_, err := Read(path + "x")
	require.True(t, sparse.IsInput(err))
}

func TestRowsAreComparedByName(t *testing.T) {
	a, b := New("", nil), New("", nil)
	steady := func(mean float64) (s []float64) {
		for i := range 20 {
			s = append(s, mean*(1+0.001*float64(i)))
		}
		return s
	}
	a.Add("x", "same", "kernel", steady(1))
	b.Add("x", "same", "kernel", steady(1.001))
	a.Add("x", "slow", "kernel", steady(1))
	b.Add("x", "slow", "kernel", steady(1.1))
	a.Add("x", "fast", "kernel", steady(1))
	b.Add("x", "fast", "kernel", steady(0.9))
	a.Add("x", "tiny", "kernel", steady(1e-6))
	b.Add("x", "tiny", "kernel", steady(2e-6))
	a.Add("x", "grown", "kernel", steady(1e-6))
	b.Add("x", "grown", "kernel", steady(1))
	a.Add("x", "nothing", "kernel", make([]float64, 20))
	b.Add("x", "nothing", "kernel", steady(1))
	a.Add("x", "gone", "kernel", steady(1))
	b.Add("x", "new", "kernel", steady(1))
	a.AddModelled("x", "model", "kernel", 1)
	b.AddModelled("x", "model", "kernel", 2)
	c := Compare(a, b, measure.DefaultJudge())
	require.Equal(t, []int{1, 2, 1, 2}, []int{c.Same, c.Slower, c.Faster, c.Skipped})
	require.Equal(t, []string{"x  gone  kernel"}, c.OnlyOld)
	require.Equal(t, []string{"x  new  kernel"}, c.OnlyNew)
	require.Equal(t, measure.Slower, c.Changes[1].Verdict)
	require.InDelta(t, 1.1, c.Changes[1].Ratio, 0.002)
}

func TestDifferencesBetweenRunsAreReported(t *testing.T) {
	a, b := New("1", []string{"bench", "x"}), New("2", []string{"bench", "x"})
	b.Machine.Commit, b.Machine.Go, b.Machine.Bandwidth = "other", "go0", 1
	require.Empty(t, Compare(a, b, measure.DefaultJudge()).Unlike, "programs may differ")
	b.Machine.Kernels, b.Command = "abacus", []string{"bench", "x", "--entries", "7"}
	require.Equal(t, []string{"kernels: " + a.Machine.Kernels + " before, abacus after", "command: bench x before, bench x --entries 7 after"},
		Compare(a, b, measure.DefaultJudge()).Unlike)
	require.NotEmpty(t, a.Machine.Kernels)
}

func TestRunsAreMergedToOneSampleEach(t *testing.T) {
	var runs []*Record
	for k := range 6 {
		r := New("", nil)
		r.Add("x", "a", "kernel", []float64{float64(k + 1), 100, 100, 100, float64(k + 1)})
		r.AddModelled("x", "a", "h2d", 1)
		runs = append(runs, r)
	}
	m := Merge(runs)
	require.Len(t, m.Rows, 1)
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, m.Rows[0].Samples)
	require.Equal(t, "x  a  kernel", m.Rows[0].Key())
	require.Equal(t, 6, m.Runs)
	require.Same(t, runs[0], Merge(runs[:1]))
	require.Len(t, runs[0].Rows, 2, "the runs stay as they were")
}

func TestASmallChangeOfAllRowsIsFoundWithSeveralRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	runs := func(slow float64) *Record {
		var runs []*Record
		for range 6 {
			r := New("", nil)
			for row := range 40 {
				r.Add("x", fmt.Sprint(row), "kernel", []float64{slow * float64(row+1) * (1 + 0.2*rng.Float64())})
			}
			runs = append(runs, r)
		}
		return Merge(runs)
	}
	usual := runs(1)
	same := Compare(usual, runs(1), measure.DefaultJudge())
	require.Equal(t, measure.NoDifference, same.Overall.Verdict)
	slowed := Compare(usual, runs(1.1), measure.DefaultJudge())
	require.Equal(t, measure.Slower, slowed.Overall.Verdict)
	require.Less(t, slowed.Slower, 20, "most rows are too noisy on their own")
	require.Nil(t, Compare(New("", nil), usual, measure.DefaultJudge()).Overall)
}

func TestAlternatingRunsAreComparedInPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var before, after []*Record
	for range 10 {
		busy := 1 + rng.Float64() // load of the machine during this pair
		for k, slow := range []float64{1, 1.1} {
			r := New("", nil)
			for row := range 40 {
				r.Add("x", fmt.Sprint(row), "kernel", []float64{busy * slow * float64(row+1) * (1 + 0.1*rng.Float64())})
			}
			if k == 0 {
				before = append(before, r)
			} else {
				after = append(after, r)
			}
		}
	}
	c := Compare(Merge(before), Merge(after), measure.DefaultJudge())
	require.Equal(t, measure.Slower, c.Overall.Verdict)
	require.InDelta(t, 1.1, c.Overall.Ratio, 0.02)
	c = Compare(Merge(before), Merge(after[:9]), measure.DefaultJudge())
	require.Equal(t, measure.NoDifference, c.Overall.Verdict, "without pairs it is hidden")
}

func TestRowsThatARunLacksDoNotTakePartInTheOverallRatio(t *testing.T) {
	a, b := New("", nil), New("", nil)
	a.Runs, b.Runs = 2, 2
	a.Add("x", "all", "kernel", []float64{1, 1})
	b.Add("x", "all", "kernel", []float64{2, 2})
	a.Add("x", "some", "kernel", []float64{1})
	b.Add("x", "some", "kernel", []float64{100, 100})
	require.Equal(t, 2.0, Compare(a, b, measure.DefaultJudge()).Overall.Ratio)
}
