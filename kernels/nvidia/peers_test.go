//go:build cuda

package nvidia

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
)

// several has GPUs with a stream each, and what OnRefused got.
type several struct {
	d       []*Device
	s       []*stream
	refused []string
}

// openAll opens GPUs 0 to n-1 and closes them at the end of the test.
func openAll(t *testing.T, n int, own bool) *several {
	v := &several{}
	for i := range n {
		c := Config{GPU: i, OnRefused: func(err error) { v.refused = append(v.refused, err.Error()) }}
		if own {
			c.GPU, c.Copy, c.OwnContext = 0, i, true
		}
		d, s := open(t, c)
		v.d, v.s = append(v.d, d), append(v.s, s)
	}
	return v
}

// connect returns the link of each pair, by [from][to].
func (v *several) connect(t *testing.T) (out map[[2]int]Link) {
	var devices []kernels.Device
	at := map[string]int{}
	for i, d := range v.d {
		devices = append(devices, d)
		at[d.info.ID] = i
	}
	list, err := Connect(devices)
	require.NoError(t, err)
	require.Len(t, list, len(v.d)*(len(v.d)-1))
	out = map[[2]int]Link{}
	for _, l := range list {
		out[[2]int{at[l.From], at[l.To]}] = l
	}
	return out
}

// copies checks copies of n bytes between all pairs, made by either device.
func (v *several) copies(t *testing.T, n int) {
	for from := range v.d {
		for to := range v.d {
			for _, by := range []int{to, from} {
				for round := range 2 { // the second would return old data
					a, err := v.d[from].Alloc(int64(n))
					require.NoError(t, err)
					b, err := v.d[to].Alloc(int64(n))
					require.NoError(t, err)
					for again := range 2 {
						want := bytesOf(n, uint64(round+2*again+1))
						require.NoError(t, v.s[from].Write(a, 0, want))
						require.NoError(t, v.s[from].Sync())
						require.NoError(t, v.s[by].Copy(b, 0, a, 0, int64(n)))
						require.NoError(t, v.s[by].Sync())
						got := make([]byte, n)
						require.NoError(t, v.s[to].Read(got, b, 0))
						require.NoError(t, v.s[to].Sync())
						require.True(t, string(want) == string(got), "%d bytes from %d to %d by %d", n, from, to, by)
					}
					require.NoError(t, a.Free())
					require.NoError(t, b.Free())
				}
			}
		}
	}
}

func TestConnectedGPUsCopyAndReadDirectly(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 3})
	v := openAll(t, 3, false)
	require.False(t, v.d[0].ReadsPeer(v.d[1]), "not connected")
	nvidiatest.Fail("", 0, 0)
	for pair, l := range v.connect(t) {
		require.Equal(t, Link{From: fmt.Sprintf("cuda:%d", pair[0]), To: fmt.Sprintf("cuda:%d", pair[1]), Kind: LinkNVLink, Copies: WayDirect, Reads: true}, l)
		require.True(t, v.d[pair[1]].ReadsPeer(v.d[pair[0]]))
	}
	calls := nvidiatest.Calls()
	require.Equal(t, 6, calls["cuCtxEnablePeerAccess"])
	require.Equal(t, 6, calls["cuMemPoolSetAccess"])
	require.Equal(t, 6*2*4, calls["cuMemcpyPeerAsync"], "two rounds of pulls and pushes of both kinds of memory")
	v.connect(t)
	require.Equal(t, calls["cuMemcpyPeerAsync"], nvidiatest.Calls()["cuMemcpyPeerAsync"], "checked once")
	nvidiatest.Fail("", 0, 0)
	v.copies(t, 100)
	calls = nvidiatest.Calls()
	require.Zero(t, calls["cuCtxEnablePeerAccess"], "only Connect enables")
	require.Zero(t, calls["cuDeviceCanAccessPeer"])
	require.Empty(t, v.refused)
	d, _ := open(t, Config{Copy: 1})
	require.True(t, d.ReadsPeer(v.d[0]), "the same context")
	require.True(t, v.d[0].ReadsPeer(d))
	require.True(t, v.d[1].ReadsPeer(d), "as the context that was connected")
}

func TestAPairThatLosesDataCopiesThroughTheHost(t *testing.T) {
	for _, c := range []struct {
		lie    nvidiatest.Lie
		copies Way
		reads  bool
		why    string
	}{
		{nvidiatest.LiePull, WayHost, true, "copies from cuda:0 lose data"},
		{nvidiatest.LiePush, WayHost, true, "copies by the source from cuda:0 lose data"},
		{nvidiatest.LieRead, WayDirect, false, "reads by kernels from cuda:0 lose data"},
		{nvidiatest.LiePull | nvidiatest.LiePush | nvidiatest.LieRead, WayHost, false, "copies from cuda:0 lose data; reads by kernels from cuda:0 lose data"},
		{nvidiatest.LiePull | nvidiatest.OnlyPool, WayHost, true, "copies from cuda:0 lose data of the pool"},
		{nvidiatest.LieRead | nvidiatest.OnlyPool, WayDirect, false, "reads by kernels from cuda:0 lose data of the pool"},
		{nvidiatest.LiePull | nvidiatest.Stale, WayHost, true, "copies from cuda:0 lose data"},
		{nvidiatest.LiePush | nvidiatest.Stale, WayHost, true, "copies by the source from cuda:0 lose data"},
		{nvidiatest.LieRead | nvidiatest.Stale | nvidiatest.OnlyPool, WayDirect, false, "reads by kernels from cuda:0 lose data of the pool"},
	} {
		t.Run(fmt.Sprint(c.lie), func(t *testing.T) {
			standIn(t, nvidiatest.Machine{GPUs: 2, Links: "pcie"})
			nvidiatest.SetLie(0, 1, c.lie)
			v := openAll(t, 2, false)
			links := v.connect(t)
			require.Equal(t, Link{From: "cuda:0", To: "cuda:1", Kind: LinkPCIe, Rank: 1, Copies: c.copies, Reads: c.reads, Why: c.why}, links[[2]int{0, 1}])
			require.Equal(t, Link{From: "cuda:1", To: "cuda:0", Kind: LinkPCIe, Rank: 1, Copies: WayDirect, Reads: true}, links[[2]int{1, 0}], "the other direction is right")
			require.Equal(t, c.reads, v.d[1].ReadsPeer(v.d[0]))
			require.True(t, v.d[0].ReadsPeer(v.d[1]))
			require.NotEmpty(t, v.refused)
			require.Contains(t, v.refused[0], "device cuda:1: ")
			v.copies(t, 100)
			if c.lie == nvidiatest.LiePull {
				v.copies(t, 1)
				v.copies(t, 2*pieceBytes+5)
			}
		})
	}
}

// This shows that TestAPairThatLosesDataCopiesThroughTheHost can fail.
func TestWithoutACheckALyingPairLosesData(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 2})
	v := openAll(t, 2, false)
	v.connect(t)
	nvidiatest.SetLie(0, 1, nvidiatest.LiePull)
	a, b := devicetest.Upload(t, v.s[0], v.d[0], []float64{1, 2}), devicetest.Upload(t, v.s[1], v.d[1], []float64{3, 4})
	require.NoError(t, v.s[0].Sync())
	require.NoError(t, v.s[1].Copy(b.Buf, 0, a.Buf, 0, 16))
	require.Equal(t, []float64{3, 4}, devicetest.Download(t, v.s[1], b))
	require.NoError(t, a.Free())
	require.NoError(t, b.Free())
}

func TestP2PIsSwitchedOffByTheEnvironment(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 2})
	t.Setenv("MSREP_P2P", "0")
	v := openAll(t, 2, false)
	nvidiatest.Fail("", 0, 0)
	v.copies(t, 100)
	for _, l := range v.connect(t) {
		require.Equal(t, []any{LinkNVLink, WayHost, false, "MSREP_P2P=0"}, []any{l.Kind, l.Copies, l.Reads, l.Why})
	}
	v.copies(t, pieceBytes+1)
	calls := nvidiatest.Calls()
	require.Zero(t, calls["cuCtxEnablePeerAccess"])
	require.Zero(t, calls["cuMemcpyPeerAsync"])
	require.Empty(t, v.refused)
}

func TestGPUsWithoutPeerAccessCopyThroughTheHost(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 2})
	for _, code := range []int{1, 217, 711, 801} {
		for _, entry := range []string{"cuCtxEnablePeerAccess", "cuMemPoolSetAccess"} {
			v := openAll(t, 2, false)
			nvidiatest.Fail(entry, 1, code)
			links := v.connect(t)
			nvidiatest.Fail("", 0, 0)
			var off []Link
			for _, l := range links {
				if l.Copies != WayDirect {
					off = append(off, l)
				}
			}
			require.Len(t, off, 1, "%s fails with %d", entry, code)
			require.Regexp(t, fmt.Sprintf("^no direct access from cuda:.: .*CUDA error %d", code), off[0].Why)
			require.Equal(t, WayDriver, off[0].Copies)
			require.False(t, off[0].Reads)
			require.Len(t, v.refused, 1)
			v.copies(t, 1000)
			for i := range v.d {
				require.NoError(t, v.d[i].Close())
			}
		}
	}
}

func TestAProbeThatFailsSwitchesThePairOff(t *testing.T) {
	for _, c := range []struct {
		entry string
		nth   int
		why   string
	}{
		{"cuMemcpyPeerAsync", 1, "^copies from cuda:. fail: CUDA error 1, invalid argument"},
		{"cuMemcpyPeerAsync", 3, "^copies by the source from cuda:. fail: CUDA error 1"},
		{"cuLaunchKernel", 1, "^reads by kernels from cuda:. fail: .*CUDA error 1"},
		{"cuMemcpyHtoDAsync_v2", 1, "^copies from cuda:. cannot be checked: CUDA error 1"},
		{"cuMemHostAlloc", 1, "^not checked: .*CUDA error 1"},
		{"cuMemAllocAsync", 1, "^not checked: .*CUDA error 1"},
	} {
		t.Run(c.why, func(t *testing.T) {
			standIn(t, nvidiatest.Machine{GPUs: 2})
			v := openAll(t, 2, false)
			nvidiatest.Fail(c.entry, c.nth, 1)
			off := 0
			for _, l := range v.connect(t) {
				if l.Copies != WayDirect || !l.Reads {
					off++
					require.Regexp(t, c.why, l.Why, c.entry)
				}
			}
			require.Positive(t, off, c.entry)
			nvidiatest.Fail("", 0, 0)
			v.copies(t, 1000)
		})
	}
}

func TestAKernelThatLosesTheGPUInAProbeIsAnErrorOfThatGPU(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 2})
	v := openAll(t, 2, false)
	nvidiatest.Fail("cuLaunchKernel", 1, 719)
	_, err := Connect([]kernels.Device{v.d[0], v.d[1]})
	nvidiatest.Fail("", 0, 0)
	require.ErrorContains(t, err, "device cuda:0: access to cuda:1 (MSREP_P2P=0 avoids it): ")
	require.ErrorContains(t, err, "CUDA error 719")
	_, err = Connect([]kernels.Device{v.d[0], nil})
	require.ErrorIs(t, err, kernels.ErrArgument)
}

func TestAnotherGPUForwardsLargeCopiesWhereThereIsNoLink(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 8, Memory: 64 << 20, Links: "dgx1v"})
	v := openAll(t, 8, false)
	links := v.connect(t)
	forwarders := map[string]int{}
	for pair, l := range links {
		if l.Kind == LinkNVLink {
			require.Equal(t, WayDirect, l.Copies)
			require.Empty(t, l.Via)
			continue
		}
		require.Equal(t, []any{LinkNone, WayDriver, false}, []any{l.Kind, l.Copies, l.Reads})
		require.NotEmpty(t, l.Via, "%v", pair)
		forwarders[l.Via]++
		via := -1
		for i, d := range v.d {
			if d.info.ID == l.Via {
				via = i
			}
		}
		require.Equal(t, LinkNVLink, links[[2]int{pair[0], via}].Kind)
		require.Equal(t, LinkNVLink, links[[2]int{via, pair[1]}].Kind)
	}
	require.Greater(t, len(forwarders), 4, "not all through one: %v", forwarders)

	copyOnce := func(n int) (peerCopies int) {
		a, err := v.d[3].Alloc(int64(n))
		require.NoError(t, err)
		b, err := v.d[4].Alloc(int64(n))
		require.NoError(t, err)
		for round := range 3 { // later copies reuse the memory of the forwarder
			want := bytesOf(n, uint64(round+1))
			require.NoError(t, v.s[3].Write(a, 0, want))
			require.NoError(t, v.s[3].Sync())
			nvidiatest.Fail("", 0, 0)
			require.NoError(t, v.s[4].Copy(b, 0, a, 0, int64(n)))
			require.NoError(t, v.s[4].Sync())
			peerCopies = nvidiatest.Calls()["cuMemcpyPeerAsync"]
			got := make([]byte, n)
			require.NoError(t, v.s[4].Read(got, b, 0))
			require.NoError(t, v.s[4].Sync())
			require.True(t, string(want) == string(got), n)
		}
		require.NoError(t, a.Free())
		require.NoError(t, b.Free())
		return peerCopies
	}
	require.Equal(t, 1, copyOnce(forwardBytes-1))
	require.Equal(t, 2, copyOnce(forwardBytes))
	require.Equal(t, 12, copyOnce(5*forwardPiece+3))
}

func TestCopiesOnTwoStreamsShareAForwarder(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 8, Memory: 64 << 20, Links: "dgx1v"})
	v := openAll(t, 8, false)
	v.connect(t)
	const n = 3*forwardPiece + 8
	second := fresh(t, v.d[4])
	var want [2][]byte
	var to [2]kernels.Buffer
	for i, s := range []kernels.Stream{v.s[4], second} {
		want[i] = bytesOf(n, uint64(i+1))
		a, err := v.d[3].Alloc(n)
		require.NoError(t, err)
		defer func() { require.NoError(t, a.Free()) }()
		require.NoError(t, v.s[3].Write(a, 0, want[i]))
		require.NoError(t, v.s[3].Sync())
		to[i], err = v.d[4].Alloc(n)
		require.NoError(t, err)
		require.NoError(t, s.Copy(to[i], 0, a, 0, n))
	}
	require.NoError(t, second.Sync())
	require.NoError(t, v.s[4].Sync())
	for i := range to {
		got := make([]byte, n)
		require.NoError(t, v.s[4].Read(got, to[i], 0))
		require.NoError(t, v.s[4].Sync())
		require.True(t, string(want[i]) == string(got), i)
		require.NoError(t, to[i].Free())
	}
}

func TestAForwarderWithoutMemoryIsNotUsed(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 8, Memory: 64 << 20, Links: "dgx1v"})
	v := openAll(t, 8, false)
	v.connect(t)
	nvidiatest.Fail("cuMemAlloc_v2", 1, 2)
	defer nvidiatest.Fail("", 0, 0)
	a, b := devicetest.Upload(t, v.s[3], v.d[3], make([]float64, forwardBytes)), devicetest.Upload(t, v.s[4], v.d[4], []float64{5})
	require.NoError(t, v.s[3].Sync())
	require.NoError(t, v.s[4].Copy(b.Buf, 0, a.Buf, 8, 8))
	require.Equal(t, []float64{0}, devicetest.Download(t, v.s[4], b))
	large, err := v.d[4].Alloc(forwardBytes)
	require.NoError(t, err)
	require.NoError(t, v.s[4].Copy(large, 0, a.Buf, 0, forwardBytes))
	require.NoError(t, v.s[4].Sync())
	for _, f := range []interface{ Free() error }{a, b, large} {
		require.NoError(t, f.Free())
	}
}

func TestDevicesWithOwnContextsOnOneGPU(t *testing.T) {
	if nvidiatest.Attached() {
		standIn(t, nvidiatest.Machine{GPUs: 1})
	}
	v := openAll(t, 4, true)
	require.Equal(t, "cuda:0", v.d[0].info.ID)
	require.Equal(t, "cuda:0+3", v.d[3].info.ID)
	require.False(t, v.d[0].gpu.ctx == v.d[1].gpu.ctx)
	for _, l := range v.connect(t) {
		require.NotEqual(t, LinkSame, l.Kind)
	}
	v.copies(t, 1)
	v.copies(t, 70000)
	devicetest.Events(t, v.d[0], v.d[1], kernels.NewHostEvent("cpu:0"))
	t.Setenv("MSREP_P2P", "0")
	w := openAll(t, 2, true) // share the contexts, which are connected
	w.copies(t, 1000)
}

// On a GPU, the test loses a context, so it runs only where it is asked for.
func TestATrapInOneOfSeveralOwnContextsEndsWaitsInOthers(t *testing.T) {
	if nvidiatest.Attached() {
		standIn(t, nvidiatest.Machine{GPUs: 1})
	} else if os.Getenv("MSREP_TEST_TRAP") == "" {
		t.Skip("MSREP_TEST_TRAP=1 runs it")
	}
	v := openAll(t, 3, true)
	v.connect(t)
	p := packing(kernels.FormCSR)
	p.Idx = []int32{0, 1, 2, 0, 1<<31 - 1, 1, 2, 3, 4} // far outside of x
	a, err := v.d[0].Pack(p)
	require.NoError(t, err)
	x, err := kernels.NewArray[float64](v.d[0], 5)
	require.NoError(t, err)
	y := devicetest.Upload(t, v.s[1], v.d[1], []float64{1, 2})
	e, err := v.d[0].NewEvent()
	require.NoError(t, err)
	require.NoError(t, v.s[0].Launch(&kernels.MajorProductPacked[float64]{A: a, Alpha: 1, X: x, Y: x.Sub(0, 3), Carry: x.Sub(3, 4)}))
	require.NoError(t, v.s[0].Record(e))
	require.NoError(t, v.s[1].Wait(e))
	require.NoError(t, v.s[1].Launch(&kernels.Fill[float64]{Y: y, Value: 7}))
	ends := make(chan error, 2)
	go func() { ends <- v.s[1].Sync() }()
	begin := time.Now()
	lost := v.s[0].Sync()
	require.ErrorContains(t, lost, "device cuda:0: sync: after major-product-packed: CUDA error 7")
	select {
	case err := <-ends:
		t.Logf("%v after the trap, the wait in another context ends with: %v", time.Since(begin), err)
	case <-time.After(20 * time.Second):
		t.Fatal("a wait for an event of the lost context does not end")
	}
	z := devicetest.Upload(t, v.s[2], v.d[2], []float64{3, 4})
	require.Equal(t, []float64{3, 4}, devicetest.Download(t, v.s[2], z), "a context that did not wait goes on")
	require.NoError(t, z.Free())
	_ = errors.Join(a.Free(), x.Free(), y.Free(), e.Close()) // of lost contexts
}

func TestACopyThroughTheHostNamesTheLostGPU(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 2})
	t.Setenv("MSREP_P2P", "0")
	v := openAll(t, 2, false)
	a, b := devicetest.Upload(t, v.s[0], v.d[0], []float64{1, 2}), devicetest.Upload(t, v.s[1], v.d[1], []float64{3, 4})
	require.NoError(t, v.s[0].Sync())
	require.NoError(t, v.s[1].Sync())
	nvidiatest.Fail("cuLaunchKernel", 1, 719)
	require.NoError(t, v.s[0].Launch(&kernels.Fill[float64]{Y: a}))
	require.ErrorContains(t, v.s[0].Sync(), "CUDA error 719")
	require.NoError(t, v.s[1].Copy(b.Buf, 0, a.Buf, 0, 16))
	require.ErrorContains(t, v.s[1].Sync(), "device cuda:0: copy: CUDA error 719")
	require.Equal(t, []float64{3, 4}, devicetest.Download(t, v.s[1], b), "the other device lives")
	require.NoError(t, a.Free())
	require.NoError(t, b.Free())
}

func BenchmarkConnect(b *testing.B) {
	n := len(Query().GPUs)
	if n < 2 {
		b.Skip("needs two GPUs")
	}
	for range b.N {
		b.StopTimer()
		var devices []kernels.Device
		for i := range n {
			d, err := Open(Config{GPU: i, Node: -1})
			require.NoError(b, err)
			devices = append(devices, d)
		}
		b.StartTimer()
		_, err := Connect(devices)
		require.NoError(b, err)
		b.StopTimer()
		for _, d := range devices {
			require.NoError(b, d.Close())
		}
	}
}
