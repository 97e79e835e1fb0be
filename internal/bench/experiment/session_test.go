package experiment

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/sparse"
)

func TestColdCachesAreEmptiedBeforeEachSample(t *testing.T) {
	c := quick("cpu:2", 3000)
	c.Cache = CacheCold
	s, err := New(c, record.New("test", nil))
	require.NoError(t, err)
	seen := 0
	look := Experiment{"look", "", func(ctx context.Context, s *Session) error {
		require.NotNil(t, s.Options.Before)
		s.Options.Before()
		seen++
		return nil
	}}
	require.NoError(t, s.Run(t.Context(), []Experiment{look}))
	require.Equal(t, 1, seen)
	require.Contains(t, s.aboutCaches(), "cold")

	c.Cache = "lukewarm"
	_, err = New(c, record.New("test", nil))
	require.True(t, sparse.IsInput(err))
	warm := session(t, quick("cpu:2", 3000), "msrep-fig16")
	require.Nil(t, warm.Options.Before)
	require.Contains(t, warm.aboutCaches(), "warm")
}

func TestExperimentsThatCannotRunAreLeftOut(t *testing.T) {
	c := quick("sim:dgx1", 3000)
	s, err := New(c, record.New("test", nil))
	require.NoError(t, err)
	never := Experiment{"never", "", func(context.Context, *Session) error { return sparse.Inputf("--devices", "not for these") }}
	other := Experiment{"msrep-fig16", "", phaseFigure("msrep-fig16")}
	require.NoError(t, s.Run(t.Context(), []Experiment{never, other}))
	require.Len(t, s.Page.Sections, 2)
	require.Equal(t, "never: left out", s.Page.Sections[0].Title)
	require.ErrorContains(t, s.Run(t.Context(), []Experiment{never}), "not for these")
	bad := Experiment{"bad", "", func(context.Context, *Session) error { return sparse.Inputf("--mats", "wrong") }}
	require.Error(t, s.Run(t.Context(), []Experiment{bad, other}), "other faults end the run")
}

func TestMeasuredProductsStateTheirBytes(t *testing.T) {
	s := session(t, quick("cpu:2", 3000), "msrep-fig16")
	for _, r := range s.Record.Rows {
		require.Equal(t, r.Quantity == "compute", r.Bytes > 0, r.Key())
		require.Equal(t, r.Quantity == "compute", r.OfBandwidth > 0, r.Key())
	}
	require.EqualValues(t, 12*10+8*4+8*(3+5), leastBytes(sparse.FormatCSR, 3, 5, 10))
	require.EqualValues(t, 12*10+8*6+8*(3+5), leastBytes(sparse.FormatCSC, 3, 5, 10))
	require.EqualValues(t, 16*10+8*(3+5), leastBytes(sparse.FormatCOO, 3, 5, 10))
}

func TestTimesOnGPUsAreNotComparedWithTheBandwidthOfTheHost(t *testing.T) {
	moves := Experiment{"moves", "", func(_ context.Context, s *Session) error {
		s.Record.Add("moves", "a", "product", []float64{1e-3})
		s.Record.Moves(1000)
		s.Record.AddCounted("moves", "a", "sectors", 7)
		return nil
	}}
	for _, gpus := range [][]string{nil, {"0"}} {
		s, err := New(quick("cpu:1", 1000), record.New("test", nil))
		require.NoError(t, err)
		s.gpus = gpus
		require.NoError(t, s.Run(t.Context(), []Experiment{moves}))
		require.Equal(t, gpus == nil, s.Record.Rows[0].OfBandwidth > 0)
		require.Contains(t, fmt.Sprint(s.Page.Facts), "0 of 1 measured samples", "what was counted is no sample")
	}
}

func TestCasesAreSpreadOverPasses(t *testing.T) {
	c := quick("cpu:1", 2000)
	c.Passes = 3
	c.Options.MinSamples, c.Options.MaxSamples, c.Options.RelErr, c.Options.MaxTime = 6, 6, 0, 0
	var steps []string
	c.Progress = func(_, _ int, what string) { steps = append(steps, what) }
	s := session(t, c, "msrep-fig16", "gpu-peers")
	for _, r := range s.Record.Rows {
		require.Equal(t, 6, r.N, r.Key())
	}
	require.Equal(t, 1+3*9, len(steps), "gpu-peers is in the last pass only")
	require.Contains(t, steps[0], "pass 1 of 3")
	require.Contains(t, steps[9], "pass 2 of 3")
	require.Contains(t, s.aboutMethod(), "each of 3 passes")
	c.Passes = -1
	_, err := New(c, record.New("test", nil))
	require.True(t, sparse.IsInput(err))

	c.Passes, c.Devices = 3, "sim:dgx1"
	require.Equal(t, 1, session(t, c, "msrep-fig16").Passes, "a model has no slow moments")
}
