package gpuruns

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
)

const sample = `{"what":"copy","device":"cuda:0","name":"Some GPU","gb_per_s":2000}
{"what":"product","matrix":"/tmp/x/gen-banded-n-1M.msr","value":"fp64","name":"Some GPU","nnz":100,"least_bytes":1600,"forms":[{"form":"csr","seconds":2e-6},{"form":"csr-merge","seconds":1e-6},{"form":"slices","seconds":5e-7},{"form":"cusparse","error":"no library"},{"form":"auto","seconds":1e-6}]}

{"what":"peer","matrix":"/tmp/x/gen-banded-n-1M.msr","value":"fp64","library":"cupy","nnz":100,"seconds":3e-6}
{"what":"peer","matrix":"/tmp/x/gen-banded-n-1M.msr","value":"fp64","library":"torch","error":"missing"}
{"what":"left out","matrix":"gen:rmat"}
`

func folder(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "2026-12-01-gpu")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, resultsFile), []byte(text), 0o600))
	return dir
}

func TestResultsOfAGPUAreRead(t *testing.T) {
	dir := folder(t, sample)
	r, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, &Run{
		Folder: "2026-12-01-gpu", GPU: "Some GPU", Copy: 2e12,
		Products: []Product{{Matrix: "banded-n-1M", Value: "fp64", NNZ: 100, Least: 1600, Seconds: map[string]float64{Vector: 2e-6, Merge: 1e-6, Slices: 5e-7, Auto: 1e-6, CuPy: 3e-6}}},
	}, r)
	require.Equal(t, 5e-7, r.Products[0].Own())
	require.False(t, r.StandIn())
	require.True(t, math.IsNaN((&Product{}).Own()))
}

func TestFoldersWithResultsAreFound(t *testing.T) {
	dir := folder(t, sample)
	for _, root := range []string{dir, filepath.Dir(dir)} {
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "README.md"), nil, 0o600))
		found, err := Find(root)
		require.NoError(t, err)
		require.Equal(t, []string{dir}, found)
	}
	found, err := Find(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = Find(filepath.Join(dir, "none"))
	require.True(t, sparse.IsInput(err))
}

func TestWhatIsNotResultsIsRefusedWithItsLine(t *testing.T) {
	_, err := Read(folder(t, sample+"nonsense\n"))
	require.True(t, sparse.IsInput(err))
	require.ErrorContains(t, err, "results.jsonl:7")
	_, err = Read(folder(t, string(make([]byte, maxLine+1))))
	require.True(t, sparse.IsInput(err))
	_, err = Read(t.TempDir())
	require.True(t, sparse.IsInput(err))
}
