//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// scenario opens two GPUs, multiplies in several forms, copies between the GPUs and
// closes everything, even after errors. It returns all errors, except those of Close on
// lost devices.
func scenario() (errs []error) {
	note := func(err error) bool {
		if err != nil {
			errs = append(errs, err)
		}
		return err == nil
	}
	var devices []kernels.Device
	defer func() {
		for _, d := range devices {
			note(d.Close())
		}
	}()
	for i := range 2 {
		d, err := Open(Config{GPU: i, Node: -1})
		if !note(err) {
			return
		}
		devices = append(devices, d)
	}
	_, err := Connect(devices)
	note(err)
	var ends []interface{ Close() error }
	var frees []interface{ Free() error }
	defer func() { // closes everything in the order of a plan
		for _, f := range frees {
			note(f.Free())
		}
		for _, e := range ends {
			note(e.Close())
		}
	}()
	var sum [2]kernels.Array[float64]
	var streams [2]kernels.Stream
	var events [2]kernels.Event
	for i, d := range devices {
		s, err := d.NewStream()
		if !note(err) {
			return
		}
		ends = append(ends, s)
		start, err := d.NewEvent()
		if !note(err) {
			return
		}
		ends = append(ends, start)
		x, err := kernels.NewArray[float64](d, 5)
		if !note(err) {
			return
		}
		frees = append(frees, x)
		y, err := kernels.NewArray[float64](d, 4)
		if !note(err) {
			return
		}
		frees = append(frees, y)
		sum[i], streams[i], events[i] = y, s, start
		numbers := []float64{1, 2, 3, 4, 5}
		release, err := d.(*Device).Register(mem.Bytes(numbers))
		if !note(err) {
			return
		}
		note(errors.Join(x.Write(s, numbers), s.Record(start), s.Sync()))
		note(release())
		forms := []kernels.Form{kernels.FormCSR, kernels.FormMerge, kernels.FormSlices, kernels.FormTiles, FormCuSPARSE, kernels.FormAuto}
		if i == 1 {
			forms = forms[:1]
		}
		for _, form := range forms {
			p, err := d.(kernels.Packer).Pack(packing(form))
			if !note(err) {
				continue
			}
			frees = append(frees, p)
			note(s.Launch(&kernels.MajorProductPacked[float64]{A: p, Alpha: 1, X: x, Y: y.Sub(0, 3), Carry: y.Sub(3, 4)}))
			got := make([]float64, 4)
			note(errors.Join(y.Read(s, got), s.Sync()))
			note(p.Free())
		}
		triangle := &kernels.TrianglePacking[float64]{Ptr: []int64{0, 0, 1, 2}, Idx: []int32{0, 1}, Val: []float64{1, 2}, Diag: []float64{1, 2, 3}}
		packs := []func(kernels.Operation) (kernels.Packed, error){d.(kernels.Packer).Pack, d.(*Device).PackTriangleCuSPARSE}
		for _, pack := range packs[:2-i] {
			p, err := pack(triangle)
			if !note(err) {
				continue
			}
			frees = append(frees, p)
			one := func(a kernels.Array[float64]) kernels.MultiVector[float64] {
				return kernels.MultiVector[float64]{Val: a, Cols: 1, Stride: 1}
			}
			note(s.Launch(&kernels.TriangularSolve[float64]{A: p, Alpha: 1, B: one(x), X: one(y)}))
			if u, ok := p.(kernels.PackedTriangle); ok {
				note(u.Update(triangle))
			}
			note(s.Sync())
			note(p.Free())
		}
		if i == 1 {
			for _, e := range events {
				note(errors.Join(streams[0].Launch(&kernels.Fill[float64]{Y: sum[0]}), streams[0].Record(events[0]), s.Wait(events[0]),
					s.Copy(sum[0].Buf, 0, y.Buf, 0, 32), s.Copy(y.Buf, 8, y.Buf, 0, 24), s.Record(events[1]), streams[0].Wait(events[1]), e.Sync()))
			}
			note(s.Sync())
			note(streams[0].Sync())
		}
	}
	return errs
}

// TestAFailureOfAnyCallIsOneCleanErrorAndLeaksNothing lets each driver and cuSPARSE
// call of the scenario fail, one at a time: with a transient error, with an error that
// loses the GPU, or for lack of memory.
func TestAFailureOfAnyCallIsOneCleanErrorAndLeaksNothing(t *testing.T) {
	defer func(was time.Duration) { lossGrace = was }(lossGrace)
	lossGrace = 10 * time.Millisecond
	for _, m := range []nvidiatest.Machine{{}, {NoPools: true, NoPeers: true}} {
		standIn(t, m)
		nvidiatest.Fail("", 0, 0)
		require.Empty(t, scenario())
		calls := nvidiatest.Calls()
		require.Greater(t, len(calls), 35)
		tried := 0
		for _, entry := range slices.Sorted(maps.Keys(calls)) {
			if m.NoPools && !strings.HasPrefix(entry, "cuMem") {
				continue // already tested with pools
			}
			for _, nth := range some(calls[entry]) {
				if tried++; !testing.Short() || tried%5 == 0 {
					inject(t, m, entry, nth, []int{719, 1, 2}[nth%3])
				}
			}
		}
		t.Logf("%d failures of %d entry points", tried, len(calls))
	}
}

// some returns which of n calls fail: all of a few, else a selection.
func some(n int) (out []int) {
	for _, i := range []int{1, 2, 3, 4, n / 3, n / 2, 3 * n / 4, n - 1, n} {
		if i >= 1 && i <= n && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

func inject(t *testing.T, m nvidiatest.Machine, entry string, nth, code int) {
	what := fmt.Sprintf("call %d of %s fails with %d", nth, entry, code)
	m.GPUs, m.Memory = 2, 128<<20
	nvidiatest.Reset(m)
	require.Empty(t, opened.gpus, what)
	nvidiatest.Fail(entry, nth, code)
	errs := scenario()
	failed := nvidiatest.Calls()[entry] >= nth // if another form is the fastest now, there may be fewer calls
	nvidiatest.Fail("", 0, 0)
	for _, err := range errs {
		var d *kernels.DeviceError
		require.ErrorAs(t, err, &d, what)
		require.Contains(t, d.Device, "cuda:", what)
		require.NotEmpty(t, d.Call, what)
	}
	left := nvidiatest.Live()
	if undoes[entry] { // the memory that the failed call should have released remains
		require.Equal(t, failed, len(errs) > 0, what)
		for k, n := range left {
			require.LessOrEqual(t, n, 1, "%s: %s", what, k)
		}
		return
	}
	if code == 719 && left["modules and descriptors"] == 1 { // the handle of cuSPARSE on a GPU that waits for a lost one
		require.Contains(t, []string{"cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel", "cuMemcpyPeerAsync", "cuMemcpyDtoDAsync_v2", "cuStreamQuery", "cuEventQuery"}, entry)
		delete(left, "modules and descriptors")
		nvidiatest.Reset(m)
	}
	require.Empty(t, left, "%s; errors %v", what, errs)
	require.Empty(t, opened.gpus, what)
}

// undoes has the entry points that release something.
var undoes = map[string]bool{
	"cuMemFree_v2": true, "cuMemFreeAsync": true, "cuStreamDestroy_v2": true, "cuEventDestroy_v2": true, "cuModuleUnload": true,
	"cuMemHostUnregister": true, "cuMemFreeHost": true, "cuDevicePrimaryCtxRelease_v2": true, "cusparseDestroy": true, "cusparseDestroySpMat": true, "cusparseDestroyDnVec": true,
	"cusparseSpSV_destroyDescr": true, "cusparseSpMVOp_destroyDescr": true, "cusparseSpMVOp_destroyPlan": true,
}

func TestALostGPURefusesWorkAndOthersGoOn(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	e, es := open(t, Config{GPU: 1})
	b, err := d.Alloc(64)
	require.NoError(t, err)
	nvidiatest.Fail("cuStreamQuery", 1, 719)
	require.NoError(t, s.Write(b, 0, make([]byte, 64)))
	err = s.Sync()
	require.EqualError(t, err, "device cuda:0: sync: CUDA error 719, unspecified launch failure")
	for _, err := range []error{
		s.Sync(), func() error { _, err := d.Alloc(8); return err }(), func() error { _, err := d.NewEvent(); return err }(),
	} {
		require.ErrorContains(t, err, "device cuda:0: ")
		require.ErrorContains(t, err, "the device was lost: device cuda:0: sync: CUDA error 719")
	}
	require.NoError(t, b.Free())
	c, err := e.Alloc(64)
	require.NoError(t, err)
	require.NoError(t, es.Write(c, 0, make([]byte, 64)))
	require.NoError(t, es.Sync())
	require.NoError(t, c.Free())
}

func TestClosingAStreamReturnsItsError(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	b, err := d.Alloc(64)
	require.NoError(t, err)
	for _, entry := range []string{"cuMemcpyHtoDAsync_v2", "cuStreamQuery"} {
		nvidiatest.Fail(entry, 1, 1)
		require.NoError(t, s.Write(b, 0, make([]byte, 64)))
		require.ErrorContains(t, s.Close(), "CUDA error 1, ", entry)
		require.NoError(t, s.Close(), "once")
		s = fresh(t, d).(*stream)
	}
	require.NoError(t, s.Close())
	require.NoError(t, b.Free())
}

func TestAFaultOfAKernelNamesTheOperation(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	d, s := open(t, Config{})
	p := packing(kernels.FormCSR)
	p.Idx = []int32{0, 1, 2, 0, 1 << 30, 1, 2, 3, 4} // 1<<30 is far outside of x
	a, err := d.Pack(p)
	require.NoError(t, err)
	x, err := kernels.NewArray[float64](d, 5)
	require.NoError(t, err)
	require.NoError(t, s.Launch(&kernels.MajorProductPacked[float64]{A: a, Alpha: 1, X: x, Y: x.Sub(0, 3), Carry: x.Sub(3, 4)}))
	require.EqualError(t, s.Sync(), "device cuda:0: sync: after major-product-packed: CUDA error 719, unspecified launch failure")
	require.NoError(t, a.Free())
	require.NoError(t, x.Free())
}

func TestMemoryThatCannotBePinnedIsTakenFromTheDriver(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	var refused []error
	dev, err := Open(Config{Node: -1, OnRefused: func(err error) { refused = append(refused, err) }})
	require.NoError(t, err)
	s, err := dev.NewStream()
	require.NoError(t, err)
	nvidiatest.Fail("cuMemHostRegister_v2", 1, 801)
	x := devicetest.Upload(t, s, dev, []float64{1, 2, 3})
	require.Equal(t, []float64{1, 2, 3}, devicetest.Download(t, s, x))
	require.Len(t, refused, 1)
	require.ErrorContains(t, refused[0], "device cuda:0: CUDA error 801")
	bytes, _ := dev.(*Device).Staging()
	require.Equal(t, int64(blockBytes), bytes, "from the driver")
	large := devicetest.Upload(t, s, dev, make([]float64, blockBytes/8+1))
	require.Equal(t, 0.0, devicetest.Download(t, s, large)[blockBytes/8])
	require.NoError(t, large.Free())
	bytes, _ = dev.(*Device).Staging()
	require.Equal(t, int64(2*blockBytes), bytes, "and a block that is pinned")
	require.NoError(t, x.Free())
	require.NoError(t, dev.Close())
	bytes, _ = dev.(*Device).Staging()
	require.Zero(t, bytes)
}

func TestTheThreadOfADeviceIsOnItsCPUsAndItsPinnedMemoryOnItsNode(t *testing.T) {
	standIn(t, nvidiatest.Machine{})
	topo, err := numa.Discover("/")
	require.NoError(t, err)
	for _, g := range topo.CoreGroups() {
		last := g.CPUs[len(g.CPUs)-1:]
		dev, err := Open(Config{Node: g.Node, CPUs: last})
		require.NoError(t, err)
		var cpus []int
		require.NoError(t, dev.(*Device).OnThread(func() { cpus, err = numa.Affinity() }))
		require.NoError(t, err)
		require.Equal(t, last, cpus)
		s, err := dev.NewStream()
		require.NoError(t, err)
		x := devicetest.Upload(t, s, dev, make([]float64, 1<<16))
		_, pages := dev.(*Device).Staging()
		require.Equal(t, pages.Pages(), pages.Nodes[g.Node])
		require.NoError(t, x.Free())
		require.NoError(t, dev.Close())
	}
}
