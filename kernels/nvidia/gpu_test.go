//go:build cuda

package nvidia

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda"
)

func TestL2FetchSetsTheGranularityOfTheL2Cache(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	for _, bytes := range []int{0, 32, 256} {
		nvidiatest.Fail("", 0, 0)
		d, err := Open(Config{Node: -1, L2Fetch: bytes})
		require.Equal(t, min(bytes, 1), nvidiatest.Calls()["cuCtxSetLimit"])
		if bytes > 128 {
			require.ErrorContains(t, err, "256 bytes for the L2 cache to read at a time: CUDA error 1")
			continue
		}
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}

func TestProfileStartsAndStopsTheProfilerOfTheDriver(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, _ := open(t, Config{})
	nvidiatest.Fail("", 0, 0)
	require.NoError(t, d.Profile(true))
	require.NoError(t, d.Profile(false))
	require.Equal(t, map[string]int{"cuProfilerStart": 1, "cuProfilerStop": 1}, nvidiatest.Calls())
	nvidiatest.Fail("cuProfilerStart", 1, 500)
	require.EqualError(t, d.Profile(true), "device cuda:0: profile: CUDA error 500")
	require.NoError(t, d.Close())
	require.ErrorIs(t, d.Profile(true), kernels.ErrClosed)
}

// The test swaps the names of two kernels that have the same parameters.
func TestOtherKernelsTakeThePlaceOfOurs(t *testing.T) {
	for _, other := range []string{"merge", "vector"} {
		standIn(t, nvidiatest.Machine{})
		d, s := open(t, Config{PTX: func(family string) string {
			if family != other {
				return ""
			}
			text, err := cuda.PTX(family)
			require.NoError(t, err)
			return strings.NewReplacer("msrep_fill_f64", "msrep_scale_f64", "msrep_scale_f64", "msrep_fill_f64").Replace(text)
		}})
		y := devicetest.Upload(t, s, d, []float64{3})
		require.NoError(t, s.Launch(&kernels.Fill[float64]{Y: y, Value: 2}))
		want := map[string]float64{"merge": 2, "vector": 6}[other]
		require.Equal(t, []float64{want}, devicetest.Download(t, s, y))
		require.NoError(t, y.Free())
		require.NoError(t, d.Close())
	}
}

func TestTheErrorContainsTheLogOfTheCompiler(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{PTX: func(string) string { return ".target sm_70" }})
	x := devicetest.Upload(t, s, d, []float64{1})
	require.NoError(t, s.Launch(&kernels.Fill[float64]{Y: x}))
	require.EqualError(t, s.Sync(), "device cuda:0: fill: msrep_fill_f64: line 1; missing .version directive: CUDA error 218, a PTX JIT compilation failed")
	require.NoError(t, x.Free())
}
