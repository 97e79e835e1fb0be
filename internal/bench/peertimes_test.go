package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestOurTimesAreInTheColumnsOfTheOthers(t *testing.T) {
	dir := t.TempDir()
	a, src, err := gen.Generate("banded:n=300")
	require.NoError(t, err)
	require.NoError(t, matio.Write(filepath.Join(dir, "a_band.bin"), a, src))
	var out bytes.Buffer
	c := CPUPeers{Dir: dir, Random: true, Threads: []int{1, 2}, Reps: 4}
	times, err := c.Run(t.Context(), &out)
	require.NoError(t, err)
	require.Len(t, times, 2)
	require.EqualValues(t, 12*a.NNZ()+4*int64(a.Rows+1)+8*int64(a.Rows+a.Cols), times[0].Bytes)
	require.GreaterOrEqual(t, len(times[1].Samples), 4)
	require.Equal(t, "a_band", times[1].Matrix)
	require.Equal(t, 2, times[1].Threads)
	require.Contains(t, times[1].Samples, times[1].Seconds)
	require.InEpsilon(t, 2e-9*float64(a.NNZ())/times[1].Seconds, times[1].GFLOPs, 1e-12)
	require.Regexp(t, `(?m)^a_band +msrep +2 .* runs=\d+/\d+~? alone=\d+,\d+ together=\d+,\d+ prep=`, out.String())
	fields := strings.Fields(strings.Split(out.String(), "\n")[1])
	require.Equal(t, []string{"a_band", "msrep", "2", fmt.Sprintf("%.9f", times[1].Seconds), fmt.Sprintf("%.3f", times[1].GFLOPs),
		fmt.Sprintf("%.2f", 1e-9*float64(times[1].Bytes)/times[1].Seconds)}, fields[:6])

	c.Single, c.Threads = true, []int{1}
	out.Reset()
	times32, err := c.Run(t.Context(), &out)
	require.NoError(t, err)
	require.EqualValues(t, 8*a.NNZ()+4*int64(a.Rows+1)+4*int64(a.Rows+a.Cols), times32[0].Bytes)

	path := filepath.Join(dir, "table")
	text := out.String() + "building...\nstream 24 GB/s\n" +
		"a_band.bin mkl 1 0.000010 0.5 1.0 err=0\na_band mkl x 0.1 0.5\na_band grb 2 0 0.5 1\n/mats/b_web eigen 2 1e-5 0.25 7 8 9\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	theirs, err := ReadPeerTimes(path)
	require.NoError(t, err)
	require.Equal(t, []PeerTime{
		{Matrix: "a_band", Library: "mkl", Threads: 1, Seconds: 1e-5, GFLOPs: 0.5},
		{Matrix: "b_web", Library: "eigen", Threads: 2, Seconds: 1e-5, GFLOPs: 0.25},
	}, theirs, "our own lines and messages are passed over")
}

func TestATableWithoutTimesIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "table")
	require.NoError(t, os.WriteFile(path, []byte("hello\n"), 0o600))
	for _, p := range []string{path, path + "x"} {
		_, err := ReadPeerTimes(p)
		require.True(t, sparse.IsInput(err))
	}
	_, err := CPUPeers{Dir: t.TempDir()}.Run(t.Context(), &bytes.Buffer{})
	require.True(t, sparse.IsInput(err))
}
