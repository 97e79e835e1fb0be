package experiment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/bench/record"
	"github.com/msrep-go/msrep/internal/plot"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
)

// results writes a folder like those of scripts/gpu-run.
func results(t *testing.T, gpu string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "2026-12-01-h100")
	require.NoError(t, os.Mkdir(dir, 0o700))
	lines := `{"what":"copy","name":"` + gpu + `","gb_per_s":2000}
{"what":"product","matrix":"/x/gen-banded.msr","value":"fp64","name":"` + gpu + `","nnz":100,"least_bytes":1800,"forms":[{"form":"csr","seconds":2e-9},{"form":"csr-merge","seconds":1e-9},{"form":"cusparse","seconds":1.5e-9}]}
{"what":"peer","matrix":"/x/gen-banded.msr","value":"fp64","library":"cupy","seconds":3e-9}
{"what":"product","matrix":"/x/gen-rmat.msr","value":"fp64","name":"` + gpu + `","nnz":100,"least_bytes":1800,"forms":[{"form":"csr","seconds":2e-9},{"form":"csr-merge","error":"x"},{"form":"cusparse","error":"x"}]}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "results.jsonl"), []byte(lines), 0o600))
	return dir
}

func TestResultsOfAGPUAreDrawnAsMeasuredElsewhere(t *testing.T) {
	c := quick("cpu:1", 1000)
	c.Results = results(t, "Some GPU")
	s := session(t, c, "gpu-peers")
	requireFull(t, s)
	sec := s.Page.Sections[0]
	require.Equal(t, [][]string{
		{"banded fp64", "100", "1800", "0.9", "1.5", "3", "-"},
		{"rmat fp64", "100", "900", "0.45", "-", "-", "-"},
	}, sec.Tables[0].Rows)
	require.Equal(t, plot.Earlier, sec.Tables[0].Origin)
	require.Len(t, sec.Figures[0].Series, 2)
	require.Contains(t, sec.Remarks[0], "This run used no GPU")
	require.Contains(t, sec.Remarks[1], "1.50 times as long")
}

func TestTimesOfTheStandInAreNotDrawn(t *testing.T) {
	c := quick("cpu:1", 1000)
	c.Results = results(t, "no GPU, interpreted")
	sec := session(t, c, "gpu-peers").Page.Sections[0]
	require.Empty(t, sec.Figures)
	require.Contains(t, sec.Remarks[1], "stand-in")
}

func TestAMissingGPUAndMissingResultsAreReported(t *testing.T) {
	sec := session(t, quick("cpu:1", 1000), "gpu-peers").Page.Sections[0]
	require.Empty(t, sec.Tables)
	require.Contains(t, sec.Remarks[1], "no GPU results")
	c := quick("cpu:1", 1000)
	c.Results = filepath.Join(t.TempDir(), "none")
	s, err := New(c, record.New("test", nil))
	require.NoError(t, err)
	require.True(t, sparse.IsInput(s.Run(t.Context(), []Experiment{{"gpu-peers", "", gpuPeers}})))
}

func TestGPUsAreTakenWhereThereAreAny(t *testing.T) {
	found := nvidia.Status{GPUs: []nvidia.GPU{{Ordinal: 0}, {Ordinal: 1}, {Ordinal: 2}}}
	for devices, want := range map[string]string{"auto": "cuda:0,1", "": "cuda:0,1", "cuda": "cuda:0,1", "cuda:2,0,1": "cuda:2,0", "cpu": "cpu:2", "cpu:3": "cpu:2"} {
		s := &Session{Config: Config{Devices: devices}}
		require.NoError(t, s.chooseDevices(found), devices)
		require.Equal(t, want, s.measured(2), devices)
	}
	none := nvidia.Status{Reason: "no driver"}
	s := &Session{Config: Config{Devices: "auto"}}
	require.NoError(t, s.chooseDevices(none))
	require.Equal(t, "cpu:8", s.measured(s.most))
	require.True(t, sparse.IsInput((&Session{Config: Config{Devices: "cuda:0"}}).chooseDevices(none)))
}
