package experiment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench"
	"github.com/msrep-go/msrep/internal/bench/record"
)

func TestTheFastestOtherLibraryIsCompared(t *testing.T) {
	ours := []bench.PeerTime{
		{Matrix: "a", Threads: 1, Values: "random, fp32", Seconds: 1e-3, Samples: []float64{1e-3}, Bytes: 1000, GFLOPs: 2},
		{Matrix: "b", Threads: 1, Seconds: 1e-3, Samples: []float64{1e-3}, Bytes: 1000, GFLOPs: 2},
		{Matrix: "b", Threads: 2, Seconds: 1e-3, Samples: []float64{1e-3}, Bytes: 1000, GFLOPs: 2},
	}
	theirs := []bench.PeerTime{
		{Matrix: "a", Library: "mkl", Threads: 1, Seconds: 3e-3}, {Matrix: "a", Library: "eigen", Threads: 1, Seconds: 2e-3},
		{Matrix: "b", Library: "mkl", Threads: 1, Seconds: 0.5e-3}, {Matrix: "a", Library: "mkl", Threads: 2, Seconds: 1e-3},
	}
	s, err := New(quick("cpu", 1), record.New("test", nil))
	require.NoError(t, err)
	require.NoError(t, s.Run(t.Context(), []Experiment{CPUPeers(ours, theirs)}))
	requireFull(t, s)
	sec := s.Page.Sections[0]
	require.Equal(t, [][]string{
		{"a", "1", "eigen", "2", "1", "2.00", "2"},
		{"b", "1", "mkl", "0.5", "1", "0.50", "2"},
		{"b", "2", "-", "-", "1", "-", "2"},
	}, sec.Tables[0].Rows)
	require.Contains(t, sec.Remarks[1], "Threads: 1. Geometric mean of the ratios 1.00, least 0.50, of 2 matrices")
	require.Len(t, s.Record.Rows, 3)
	require.Positive(t, s.Record.Rows[0].OfBandwidth)
	require.Equal(t, "a (random, fp32) 1 threads", s.Record.Rows[0].Case, "not the case of other values")
	require.Contains(t, sec.Intro[1], "random, fp32")
	require.Contains(t, fmt.Sprint(s.Page.Facts), "[Method after 3 untimed products", "not that of the other experiments")

	alone := peersSection(ours, nil)
	require.Empty(t, alone.Figures)
	require.Empty(t, alone.Remarks)
}
