//go:build cuda && linux

package msrep

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels/nvidia"
	"github.com/msrep-go/msrep/sparse"
)

func ids(sys *System) (out []string) {
	for _, d := range sys.Devices() {
		out = append(out, d.ID)
	}
	return out
}

func TestGPUsAreInTheOrderOfTheirLinks(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	for _, c := range []struct {
		links   string
		gpus    int
		devices string
		want    []int
	}{
		{"dgx1v", 8, "cuda", []int{0, 1, 2, 3, 7, 6, 5, 4}},
		{"dgx1v", 8, "auto", []int{0, 1, 2, 3, 7, 6, 5, 4}},
		{"dgx1v", 8, "cuda:0,1,2,3,4,5,6,7", []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"dgx1v", 4, "cuda", []int{0, 1, 2, 3}},
		{"dgx1v-ranks", 8, "cuda", []int{0, 3, 2, 1, 5, 6, 7, 4}},
		{"summit", 6, "cuda", []int{0, 1, 2, 3, 4, 5}},
		{"nvswitch", 8, "cuda", []int{0, 1, 2, 3, 4, 5, 6, 7}},
	} {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: c.gpus, Memory: 16 << 20, Links: c.links})
		sys, err := Open(Config{Devices: c.devices})
		require.NoError(t, err)
		var want []string
		for _, i := range c.want {
			want = append(want, fmt.Sprintf("cuda:%d", i))
		}
		require.Equal(t, want, ids(sys), "%+v", c)
		require.Len(t, sys.Peers(), c.gpus*(c.gpus-1))
		require.Empty(t, sys.Placement().Refused)
		require.NoError(t, sys.Close())
	}
}

// applied checks products of host vectors and of Vectors, of each kind.
func applied(t *testing.T, sys *System) {
	var a sparse.Matrix[float64] = inCOO[float64](bands(700), true)
	for _, format := range []sparse.Format{sparse.FormatCSR, sparse.FormatCSC} {
		plan := planOf(t, sys, a, PlanOptions{Storage: Storage{Format: format}, Expected: Expected{Products: 1}})
		for _, op := range []Transpose{NoTrans, Trans} {
			x, y := sines(700), sines(700)
			want := reference.Multiply(bool(op), 0.5, a, x, -2, y)
			dx, err := plan.ColumnVector()
			require.NoError(t, err)
			dy, err := plan.RowVector()
			require.NoError(t, err)
			require.NoError(t, dx.Write(x))
			require.NoError(t, dy.Write(y))
			for range 2 { // the second product would read old data
				require.NoError(t, plan.Apply(ctx, op, 0.5, dx, -2, dy))
				got := make([]float64, 700)
				require.NoError(t, dy.Read(got))
				require.Equal(t, -1, reference.Check(got, want))
				require.NoError(t, dy.Write(y))
			}
			require.NoError(t, dx.Close())
			require.NoError(t, dy.Close())
			multiply(t, plan, op, 0.5, x, -2, y)
			require.Equal(t, -1, reference.Check(y, want))
		}
		require.NoError(t, plan.Close())
	}
}

func TestGPUsOfWhichAPairLosesDataMultiplyRight(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	all := nvidiatest.LiePull | nvidiatest.LiePush | nvidiatest.LieRead
	for _, lie := range []nvidiatest.Lie{0, all, all | nvidiatest.Stale, all | nvidiatest.OnlyPool, nvidiatest.LieRead, nvidiatest.LiePull} {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: 3, Memory: 64 << 20})
		nvidiatest.SetLie(0, 1, lie)
		nvidiatest.SetLie(2, 0, lie)
		sys, err := Open(Config{Devices: "cuda"})
		require.NoError(t, err)
		require.Equal(t, lie == 0, sys.Placement().Refused == "")
		nvidiatest.Fail("", 0, 0)
		applied(t, sys)
		require.Zero(t, nvidiatest.Calls()["cuCtxEnablePeerAccess"], "no product enables access")
		require.Zero(t, nvidiatest.Calls()["cuDeviceCanAccessPeer"])
		require.NoError(t, sys.Close())
	}
}

func TestGPUsMultiplyWithoutDirectAccess(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	t.Setenv("MSREP_P2P", "0")
	sys := openCPU(t, "cuda")
	nvidiatest.Fail("", 0, 0)
	applied(t, sys)
	require.Zero(t, nvidiatest.Calls()["cuMemcpyPeerAsync"])
	for _, p := range sys.Peers() {
		require.Equal(t, nvidia.WayHost, p.Copies)
	}
}

func TestLogicalGPUsWithOwnContextsMultiplyRight(t *testing.T) {
	if !onGPU(t) {
		return
	}
	for _, p2p := range []string{"", "0"} {
		t.Setenv("MSREP_P2P", p2p)
		sys, err := Open(Config{Devices: "cuda:0+0+0+0"})
		require.NoError(t, err)
		require.Equal(t, []string{"cuda:0", "cuda:0+1", "cuda:0+2", "cuda:0+3"}, ids(sys))
		require.Len(t, sys.Peers(), 12)
		if nvidiatest.Attached() {
			nvidiatest.Fail("", 0, 0)
		}
		applied(t, sys)
		if nvidiatest.Attached() {
			require.Equal(t, p2p == "", nvidiatest.Calls()["cuMemcpyPeerAsync"] > 0, "copies go from context to context")
		}
		require.NoError(t, sys.Close())
	}
}

// The matrix has more than 2^31 entries in one part. Almost all are 0 and in column 0, in memory that is never written.
func TestOnAGPUMoreEntriesThan32BitsCount(t *testing.T) {
	if os.Getenv("MSREP_TEST_HUGE") == "" || nvidia.Query().Reason != "" {
		t.Skip("takes 18 GB of a GPU; MSREP_TEST_HUGE=1 runs it")
	}
	const rows, each, cols = 1<<25 + 1000, 64, 100_000
	a := &sparse.CSR[float32]{Rows: rows, Cols: cols, RowPtr: make([]int64, rows+1)}
	for i := range a.RowPtr {
		a.RowPtr[i] = each * int64(i)
	}
	nnz := a.RowPtr[rows]
	require.Greater(t, nnz, int64(1)<<31)
	a.ColIdx, a.Val = untouched[int32](t, nnz), untouched[float32](t, nnz)
	x, u := make([]float32, cols), make([]float32, rows)
	for i := range x {
		x[i] = float32(i%7) - 2
	}
	for i := range u {
		u[i] = float32(i%5) - 1
	}
	ax, atu := make([]float32, rows), make([]float32, cols) // A x and A'u, exact
	for _, row := range []int{0, 1, 7, 1 << 24, 1<<25 - 2, 1<<25 - 1, 1 << 25, 1<<25 + 1, rows - 2, rows - 1} {
		for k := range int64(each) {
			at, c, v := a.RowPtr[row]+k, int32((int64(row)+k*1009)%cols), float32(k%5)-1
			a.ColIdx[at], a.Val[at] = c, v
			ax[row] += v * x[c]
			atu[c] += v * u[row]
		}
	}
	sys := open(t, Config{Devices: "cuda:0"})
	p := planOf(t, sys, sparse.Matrix[float32](a), PlanOptions{Expected: Expected{Products: 1}, SkipValidation: true})
	y, z := make([]float32, rows), make([]float32, cols)
	multiply(t, p, NoTrans, 1, x, 0, y)
	require.Equal(t, ax, y)
	multiply(t, p, Trans, 1, u, 0, z)
	require.Equal(t, atu, z)
}

// BenchmarkGPUHostFloor times products so small that only the calls of the host count: queued one after another, and
// with a wait after each; on devices that share a context, and on devices with a context each.
func BenchmarkGPUHostFloor(b *testing.B) {
	if nvidia.Query().Reason != "" {
		b.Skip("needs a GPU")
	}
	for _, n := range []int{1, 2, 4, 8} {
		for _, between := range []string{",", "+"} {
			devices := "cuda:0" + strings.Repeat(between+"0", n-1)
			for _, wait := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/wait=%v", devices, wait), func(b *testing.B) { floor(b, devices, wait) })
			}
			if n == 1 {
				break
			}
		}
	}
}

func floor(b *testing.B, devices string, wait bool) {
	sys, err := Open(Config{Devices: devices})
	require.NoError(b, err)
	defer func() { require.NoError(b, sys.Close()) }()
	plan := planOf(b, sys, sparse.Matrix[float64](generated(b, "stencil:dims=2,n=20")), PlanOptions{Expected: Expected{Products: 1}})
	x, err := plan.ColumnVector()
	require.NoError(b, err)
	y, err := plan.RowVector()
	require.NoError(b, err)
	require.NoError(b, plan.Apply(ctx, NoTrans, 1, x, 0, y))
	require.NoError(b, y.Wait())
	for b.Loop() {
		require.NoError(b, plan.Apply(ctx, NoTrans, 1, x, 0, y))
		if wait {
			require.NoError(b, y.Wait())
		}
	}
	require.NoError(b, y.Wait())
}
