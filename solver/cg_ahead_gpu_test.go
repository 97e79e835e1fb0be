//go:build cuda

package solver

import (
	"context"
	"math"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/msrep"
)

// onGPU reports whether this process has GPUs. Otherwise it runs the test in another process, with the stand-in for the
// driver.
func onGPU(t *testing.T) bool {
	if nvidiatest.Attached() {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: 2, Memory: 1 << 30})
		t.Cleanup(func() { require.Empty(t, nvidiatest.Live(), "left behind") })
		return true
	}
	if nvidia.Query().Reason == "" {
		return true
	}
	lib, err := nvidiatest.Build(t.TempDir())
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = lib.Env()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	t.Logf("%s", out)
	return false
}

func TestCGOnGPUsWaitsOnceInEightIterations(t *testing.T) {
	if !onGPU(t) {
		return
	}
	a := laplacian(t, "stencil:n=16,points=5")
	jacobi, err := Jacobi(a)
	require.NoError(t, err)
	for _, devices := range []string{"cuda:0", "cuda", "cuda:0,0,1,1"} {
		for name, m := range map[string]Preconditioner{"none": nil, "jacobi": jacobi} {
			sys := openAs(t, msrep.Config{Devices: devices, NUMA: msrep.NUMAOff})
			plan := planOf(t, sys, a, msrep.PlanOptions{Expected: msrep.Expected{Products: 1}}) // with the kernels of this project
			x := make([]float64, a.Rows)
			const from, to = 7, 23 // the looks are after iterations 1, 3, 7, 15 and 23
			opt := Options{Tol: 1e-14, Precond: m, Progress: func(i int, _ float64) {
				switch i {
				case from:
					if nvidiatest.Attached() {
						nvidiatest.Fail("", 0, 0) // counts from here
					}
				case to:
					calls := nvidiatest.Calls()
					if !nvidiatest.Attached() {
						return
					}
					const looks = (to - from) / maxAhead
					// The host waits for what it reads, by asking the driver an unknown number of times.
					require.Zero(t, calls["cuStreamSynchronize"]+calls["cuEventSynchronize"], "%s on %s: %v", name, devices, calls)
					require.Equal(t, looks, calls["cuMemcpyDtoHAsync_v2"], "%s on %s: %v", name, devices, calls)
					for _, entry := range []string{"cuCtxSynchronize", "cuMemcpyHtoDAsync_v2", "cuMemAllocAsync", "cuMemFreeAsync", "cuMemAlloc_v2", "cuMemFree_v2"} {
						require.Zero(t, calls[entry], "%s of %s on %s", entry, name, devices)
					}
					t.Logf("%s on %s, %d iterations: %v", name, devices, to-from, calls)
				}
			}}
			res, err := CG(context.Background(), plan, sines(a.Rows), x, opt)
			require.NoError(t, err)
			require.Greater(t, res.Iterations, to)
			want := make([]float64, a.Rows)
			expected, err := CG(context.Background(), planOn(t, "cpu:1", a), sines(a.Rows), want, Options{Tol: 1e-14, Precond: m})
			require.NoError(t, err)
			require.InDelta(t, expected.Iterations, res.Iterations, 1)
			for i := range want {
				require.InDelta(t, want[i], x[i], 1e-11*(1+math.Abs(want[i])))
			}
			require.NoError(t, sys.Close())
		}
	}
}
