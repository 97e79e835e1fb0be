//go:build cuda

package msrep

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/gen"
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

func TestGPUsAgreeWithTheReference(t *testing.T) {
	if !onGPU(t) {
		return
	}
	systems := map[string]*System{}
	for _, devices := range []string{"cuda", "cuda:0", "cuda:0,0,0,0"} {
		systems[devices] = openCPU(t, devices)
	}
	left := 60 // with the stand-in, a case takes as long as dozens on the CPU
	if !nvidiatest.Attached() {
		left = 1000
	}
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 {
			return
		}
		sys := systems[rapid.SampledFrom([]string{"cuda", "cuda:0", "cuda:0,0,0,0"}).Draw(t, "devices")]
		if rapid.Bool().Draw(t, "single precision") {
			checkSimulated[float32](t, sys)
		} else {
			checkSimulated[float64](t, sys)
		}
	})
}

func TestAnInvalidIndexWithoutValidationIsExplainedOnGPUs(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() { // a real GPU may have other memory there
		return
	}
	bad := small(t)
	bad.ColIdx = []int32{0, 99, 1}
	sys, err := Open(Config{Devices: "cuda:0"})
	require.NoError(t, err)
	plan, err := NewPlan[float64](ctx, sys, bad, PlanOptions{SkipValidation: true, Variant: Variant{Strategy: Partial}})
	if err == nil {
		err = plan.SpMV(ctx, NoTrans, 1, make([]float64, 4), 0, make([]float64, 3))
	}
	require.ErrorIs(t, err, kernels.ErrBadAccess)
	require.ErrorContains(t, err, ": with SkipValidation the pointers and indices of the matrix are not checked")
	_ = plan.Close() // the device is lost
	_ = sys.Close()
}

func TestProductsOfVectorsOnGPUsDoNotTouchTheHost(t *testing.T) {
	if !onGPU(t) {
		return
	}
	const n = 300
	a := bands(n)
	for _, devices := range []string{"cuda", "cuda:0,0,0,0"} {
		for _, k := range kinds {
			sys := openCPU(t, devices) // a new one: after some hundred calls, a stream waits for the first
			plan, err := NewPlan(ctx, sys, sparse.Matrix[float64](a), PlanOptions{Storage: Storage{Format: k.format}, Variant: Variant{Split: partition.RuleNNZ}})
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(5, 5))
			x, y := normalVector[float64](r, n), normalVector[float64](r, n)
			vx, err := plan.ColumnVector()
			dx := onDevices(t, vx, err, x)
			vy, err := plan.RowVector()
			dy := onDevices(t, vy, err, y)
			ones := reference.Multiply(bool(k.op), 0.5, a, x, 0.5, y)
			require.NoError(t, plan.Apply(ctx, k.op, 0.5, dx, 0.5, dy))
			y = elements(t, dy)
			require.Equal(t, -1, reference.Check(y, ones))
			if nvidiatest.Attached() {
				nvidiatest.Fail("", 0, 0) // counts from here
			}
			want := reference.Multiply(bool(k.op), 0.5, a, x, 0, y)
			for range 3 {
				require.NoError(t, plan.Apply(ctx, k.op, 0.5, dx, 0, dy))
			}
			require.NoError(t, dx.Scale(3)) // after all have read it
			if nvidiatest.Attached() {
				for _, d := range sys.devices().List { // wait until all calls have reached the driver
					require.NoError(t, d.(*nvidia.Device).OnThread(func() {}))
				}
				calls := nvidiatest.Calls()
				for _, entry := range []string{"cuStreamQuery", "cuEventQuery", "cuStreamSynchronize", "cuEventSynchronize", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemAllocAsync", "cuMemFreeAsync"} {
					require.Zero(t, calls[entry], "%s of %v", entry, k)
				}
				require.Positive(t, calls["cuStreamWaitEvent"])
			}
			require.Equal(t, -1, reference.Check(elements(t, dy), want))
			require.NoError(t, plan.Close())
			require.NoError(t, sys.Close())
		}
	}
}

func TestAFailingGPUBreaksOnlyItsPlan(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	sys := openCPU(t, "cuda:0,1")
	other := openCPU(t, "cuda:1")
	a, _, err := gen.Generate("stencil:dims=2,n=20")
	require.NoError(t, err)
	plan, err := NewPlan(ctx, sys, a, PlanOptions{Expected: Expected{Products: 1}}) // with the kernels of this project
	require.NoError(t, err)
	second, err := NewPlan(ctx, other, a, PlanOptions{})
	require.NoError(t, err)
	x, y := make([]float64, 400), make([]float64, 400)
	err = plan.SpMV(ctx, NoTrans, 1, x, 0, y)
	require.NoError(t, err)
	nvidiatest.Fail("cuLaunchKernel", 1, 700)
	err = plan.SpMV(ctx, NoTrans, 1, x, 0, y)
	nvidiatest.Fail("", 0, 0)
	require.ErrorContains(t, err, "CUDA error 700")
	require.ErrorContains(t, err, "device cuda:")
	err = plan.SpMV(ctx, NoTrans, 1, x, 0, y)
	require.ErrorContains(t, err, "unusable after an earlier error")
	require.NoError(t, plan.Close())
	err = second.SpMV(ctx, NoTrans, 1, x, 0, y)
	if err != nil { // it was the GPU that both use
		require.ErrorContains(t, err, "device cuda:1")
	}
}

func TestAMatrixLargerThanTheGPUIsStreamed(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	nvidiatest.Reset(nvidiatest.Machine{GPUs: 2, Memory: 200_000})
	a, _, err := gen.Generate("banded:n=2000,band=8")
	require.NoError(t, err)
	for _, devices := range []string{"cuda:0", "cuda"} {
		sys := openCPU(t, devices)
		plan, err := NewPlan(ctx, sys, a, PlanOptions{})
		require.NoError(t, err)
		for _, info := range plan.Packed(NoTrans) {
			require.Equal(t, kernels.FormStreamed, info.Form)
			require.Contains(t, info.Why, "the part does not fit on the device")
		}
		x, y := make([]float64, a.Cols), make([]float64, a.Rows)
		for i := range x {
			x[i], y[i] = float64(i%13), float64(i%7)
		}
		want := reference.Multiply(false, 1.5, a, x, 0.5, y)
		err = plan.SpMV(ctx, NoTrans, 1.5, x, 0.5, y)
		require.NoError(t, err)
		require.Equal(t, -1, reference.Check(y, want))
		require.NoError(t, plan.Close())
	}
}

func TestGPUsMeasureCOOBesideCSR(t *testing.T) {
	if !onGPU(t) {
		return
	}
	sys := openCPU(t, "cuda:0,0")
	for _, byRow := range []bool{true, false} {
		for _, transposed := range []int{0, 1000} {
			var a sparse.Matrix[float64] = inCOO[float64](bands(2000), byRow)
			plan := planOf(t, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}, Expected: Expected{Transposed: transposed}})
			for i, info := range plan.Packed(NoTrans) {
				require.Regexp(t, `^measured: coo .*, csr .*s$`, info.Why)
				require.Equal(t, plan.shares[i].arrays == compressed, info.Form == kernels.FormCSR)
				require.Len(t, info.Tried, 2)
			}
			for _, op := range []Transpose{NoTrans, Trans} {
				x, y := sines(2000), sines(2000)
				want := reference.Multiply(bool(op), 0.5, a, x, -2, y)
				multiply(t, plan, op, 0.5, x, -2, y)
				require.Equal(t, -1, reference.Check(y, want))
			}
			require.NoError(t, plan.Close())
		}
	}
}

func TestAGPUWithLittleMemoryKeepsCOO(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	const n = 3000
	var a sparse.Matrix[float64] = inCOO[float64](bands(n), true)
	seen := map[string]bool{}
	for memory := int64(280_000); memory < 500_000; memory += 4_000 {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: 1, Memory: memory})
		sys, err := Open(Config{Devices: "cuda:0"})
		require.NoError(t, err)
		plan, err := NewPlan(ctx, sys, a, PlanOptions{Storage: Storage{Format: sparse.FormatCOO}})
		if err != nil {
			require.ErrorIs(t, err, kernels.ErrOutOfMemory)
			seen["nothing"] = true
			require.NoError(t, sys.Close())
			continue
		}
		why, _, _ := strings.Cut(plan.Packed(NoTrans)[0].Why, " coo")
		seen[why] = true
		x, y := sines(n), sines(n)
		want := reference.Multiply(false, 0.5, a, x, -2, y)
		if err := plan.SpMV(ctx, NoTrans, 0.5, x, -2, y); err == nil {
			require.Equal(t, -1, reference.Check(y, want))
		} else {
			require.ErrorIs(t, err, kernels.ErrOutOfMemory)
		}
		require.NoError(t, sys.Close())
	}
	for _, why := range []string{"nothing", "", "no memory to measure csr beside it", "measured:"} {
		require.True(t, seen[why], "%q: %v", why, seen)
	}
}
