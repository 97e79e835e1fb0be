//go:build cuda

package msrep

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
)

// onMachine reports whether the stand-in for the driver runs here, as a machine.
func onMachine(t *testing.T, m nvidiatest.Machine) bool {
	if !onGPU(t) || !nvidiatest.Attached() {
		return false
	}
	nvidiatest.Reset(m)
	return true
}

// openNoted opens a System and returns what it warns of.
func openNoted(t *testing.T, devices string) (sys *System, warnings []string) {
	sys, err := Open(Config{Devices: devices, Warn: func(w string) { warnings = append(warnings, w) }})
	require.NoError(t, err)
	return sys, warnings
}

// productsAreRight compares products on all devices with the reference.
func productsAreRight(t *testing.T, sys *System) {
	const n = 3000
	a := bands(n)
	plan := planOf(t, sys, sparse.Matrix[float64](a), PlanOptions{})
	for _, op := range []Transpose{NoTrans, Trans} {
		x, y := sines(n), sines(n)
		want := reference.Multiply(bool(op), 0.5, a, x, -2, y)
		multiply(t, plan, op, 0.5, x, -2, y)
		require.Equal(t, -1, reference.Check(y, want))
	}
	require.NoError(t, plan.Close())
}

func TestGPUsThatCannotBeUsedAreLeftOut(t *testing.T) {
	// GPU 1 is too old, and another process has GPU 2 for itself.
	m := nvidiatest.Machine{GPUs: 4, Memory: 1 << 30, Each: []nvidiatest.GPU{{}, {Compute: 61}, {Refuses: 46}, {Compute: 90}}}
	if !onMachine(t, m) {
		return
	}
	const old = "cuda:1: not supported: compute capability 6.1: the kernels need 7.0"
	const busy = `cuda:2: open: another process may have the GPU for itself (compute mode "exclusive"): CUDA error 46`
	for _, devices := range []string{"auto", "cuda"} {
		sys, warnings := openNoted(t, devices)
		require.Equal(t, []string{"cuda:0", "cuda:3"}, ids(sys))
		require.Equal(t, []string{"a GPU is left out: " + old, "a GPU is left out: device " + busy}, warnings)
		require.Equal(t, warnings, sys.Placement().Notes)
		productsAreRight(t, sys)
		require.NoError(t, sys.Close())
	}
	_, err := Open(Config{Devices: "cuda:0,1"})
	require.EqualError(t, err, `devices: "cuda:0,1": GPU 1: `+strings.TrimPrefix(old, "cuda:1: "))
	require.True(t, sparse.IsInput(err))
	_, err = Open(Config{Devices: "cuda:0,2"})
	require.EqualError(t, err, "device "+busy)
	sys, warnings := openNoted(t, "cuda:0,3")
	require.Empty(t, warnings)
	require.NoError(t, sys.Close())

	// None can be used.
	m.Each = []nvidiatest.GPU{{Refuses: 101}, {Compute: 61}, {Refuses: 46}, {Compute: 35}}
	nvidiatest.Reset(m)
	sys, warnings = openNoted(t, "auto")
	require.Equal(t, "cpu", sys.Devices()[0].Kind)
	require.Len(t, warnings, 3)
	require.NoError(t, sys.Close())
	_, err = Open(Config{Devices: "cuda"})
	require.ErrorContains(t, err, "device cuda:0: open: CUDA error 101")
	m.Each[0].Compute, m.Each[2].Compute = 60, 52
	nvidiatest.Reset(m)
	_, err = Open(Config{Devices: "cuda"})
	require.ErrorContains(t, err, `devices: "cuda": GPU 0: not supported: compute capability 6.0: the kernels need 7.0; GPU 1: `)
}

func TestGPUsOpenSideBySide(t *testing.T) {
	const each = 200 * time.Millisecond
	if !onMachine(t, nvidiatest.Machine{GPUs: 6, Memory: 1 << 30, OpenTime: each}) {
		return
	}
	begin := time.Now()
	sys, _ := openNoted(t, "cuda")
	require.Less(t, time.Since(begin), 6*each, "less than the time of one after the other")
	require.Equal(t, []string{"cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5"}, ids(sys))
	require.NoError(t, sys.Close())
}

func TestALostGPUEndsProductsOnAllGPUsWithOneError(t *testing.T) {
	if !onMachine(t, nvidiatest.Machine{}) {
		return
	}
	for lost := range 3 {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: 3, Memory: 1 << 30})
		sys, _ := openNoted(t, "cuda")
		const n = 3000
		// Without cuSPARSE, whose handle is never released on a GPU that waits for a lost one.
		plan, err := NewPlan(ctx, sys, sparse.Matrix[float64](bands(n)), PlanOptions{Variant: Variant{Library: LibraryOwn}})
		require.NoError(t, err)
		v, err := plan.ColumnVector()
		x := onDevices(t, v, err, sines(n))
		y, err := plan.RowVector()
		require.NoError(t, err)
		require.NoError(t, plan.Apply(ctx, NoTrans, 1, x, 0, y))
		elements(t, y)
		for range 3 {
			require.NoError(t, plan.Apply(ctx, NoTrans, 1, x, 0, y))
			x, y = y, x
		}
		for _, d := range sys.devices().List { // wait until all calls have reached the driver
			require.NoError(t, d.(*nvidia.Device).OnThread(func() {}))
		}
		nvidiatest.Lose(lost, 700)
		begin := time.Now()
		_, err = y.Norm()
		require.Less(t, time.Since(begin), 2*time.Second)
		oneError(t, err, lost)
		begin = time.Now()
		err = plan.Apply(ctx, NoTrans, 1, x, 0, y)
		if err == nil {
			err = y.Read(make([]float64, n))
		}
		oneError(t, err, lost)
		for _, err := range []error{plan.Close(), sys.Close()} {
			if err != nil {
				oneError(t, err, lost)
			}
		}
		require.Less(t, time.Since(begin), 2*time.Second)
	}
}

// oneError checks that err is one error of one line that names the lost GPU.
func oneError(t *testing.T, err error, lost int) {
	require.ErrorContains(t, err, []string{"cuda:0", "cuda:1", "cuda:2"}[lost])
	require.ErrorContains(t, err, "CUDA error 700")
	require.NotContains(t, err.Error(), "\n")
	var one *kernels.LostError
	require.ErrorAs(t, err, &one)
}

func TestASlowGPUGetsASmallerPart(t *testing.T) {
	// GPU 1 is a third as fast.
	m := nvidiatest.Machine{GPUs: 3, Memory: 1 << 30, Each: []nvidiatest.GPU{{Rate: 3e9}, {Rate: 1e9}, {Rate: 3e9}}}
	if !onMachine(t, m) {
		return
	}
	sys, _ := openNoted(t, "cuda")
	require.Equal(t, []int{32, 11, 32}, sys.Placement().Weights)
	require.InDelta(t, 2e9, sys.Devices()[1].Bandwidth, 1e8)
	productsAreRight(t, sys)
	parts := partsOf(t, sys)
	require.InDelta(t, 11.0/75, parts[1], 0.001)
	require.InDelta(t, parts[0], parts[2], 0.001)
	require.NoError(t, sys.Close())

	m.Each = []nvidiatest.GPU{{Rate: 1e9}, {Rate: 1e9}, {Rate: 1e9}}
	nvidiatest.Reset(m)
	sys, _ = openNoted(t, "cuda")
	require.Nil(t, sys.Placement().Weights)
	require.Zero(t, sys.Devices()[0].Bandwidth, "not measured: the GPUs are alike")
	require.NoError(t, sys.Close())
}

func TestAGPUWithLessMemoryGetsASmallerPart(t *testing.T) {
	// The matrix takes 2.4 MB. GPU 1 has a third of the memory.
	m := nvidiatest.Machine{GPUs: 3, Each: []nvidiatest.GPU{{Memory: 3_000_000, Rate: 1e9}, {Memory: 1_000_000, Rate: 1e9}, {Memory: 3_000_000, Rate: 1e9}}}
	if !onMachine(t, m) {
		return
	}
	sys, _ := openNoted(t, "cuda")
	parts := partsOf(t, sys)
	require.Less(t, parts[1], 0.3)
	require.Greater(t, parts[1], 0.1)
	plan := planOf(t, sys, sparse.Matrix[float64](bands(30_000)), PlanOptions{})
	for _, info := range plan.Packed(NoTrans) {
		require.NotEqual(t, kernels.FormStreamed, info.Form, "%s", info.Why)
	}
	require.NoError(t, plan.Close())
	productsAreRight(t, sys)
	require.NoError(t, sys.Close())
}

// partsOf returns the fractions of the entries of a matrix that the devices get.
func partsOf(t *testing.T, sys *System) (out []float64) {
	plan := planOf(t, sys, sparse.Matrix[float64](bands(30_000)), PlanOptions{})
	for _, p := range plan.parts {
		out = append(out, float64(p.NNZ())/float64(plan.NNZ()))
	}
	require.NoError(t, plan.Close())
	return out
}

func TestTheDriverStartsOnlyWhenAGPUIsAskedFor(t *testing.T) {
	if os.Getenv("MSREP_LIBCUDA") == "" {
		onGPU(t) // runs the test below in another process, if there are no GPUs here
		return
	}
	loaded := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		require.NoError(t, err)
		return strings.Contains(string(maps), os.Getenv("MSREP_LIBCUDA"))
	}
	for _, devices := range []string{"cpu:2", "sim:2"} {
		sys := openCPU(t, devices)
		productsAreRight(t, sys)
	}
	require.False(t, loaded(), "no GPU was asked for")
	for range 2 {
		require.Empty(t, nvidia.Query().Reason)
	}
	require.True(t, loaded())
	if nvidiatest.Attached() {
		require.Equal(t, 1, nvidiatest.Calls()["cuInit"])
	}
}
