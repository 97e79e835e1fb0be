package msrep

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/numa"
	"github.com/msrep-go/msrep/sparse"
)

// residentBytes returns the resident memory of the process after a garbage collection.
func residentBytes(t *testing.T) int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

// thisMachineTwice returns a topology with two nodes that both have the CPUs of this machine. The system may refuse
// placement on the second node, but memory and threads are real.
func thisMachineTwice(t *testing.T) *numa.Topology {
	here, err := numa.Affinity()
	require.NoError(t, err)
	return twoNodes(here, 1, here)
}

// requireFlatMemory calls once n times and requires that the resident memory does not grow. Each call allocates half a
// megabyte, so that a leak of a twentieth of it is detected.
func requireFlatMemory(t *testing.T, n int, once func(i int)) {
	if testing.Short() {
		t.Skip("-short")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	for i := range 20 {
		once(i)
	}
	before := residentBytes(t)
	for i := range n {
		once(i)
	}
	grown := residentBytes(t) - before
	t.Logf("%d times: resident memory grew by %d KiB", n, grown>>10)
	require.Less(t, grown, int64(24<<20))
}

func TestAThousandPlansLeaveResidentMemoryFlat(t *testing.T) {
	before := mem.Mapped()
	sys, err := openOn(thisMachineTwice(t), Config{Devices: "cpu:3", NUMA: NUMAOn})
	require.NoError(t, err)
	const n = 1 << 13
	a := wideMatrix(n) // half a megabyte
	x, y := make([]float64, n), make([]float64, n)
	held := int64(0)
	requireFlatMemory(t, 1000, func(i int) {
		opt := PlanOptions{SkipValidation: true, Variant: Variant{Strategy: []Strategy{Optimized, Partial}[i%2]}}
		plan := planOf(t, sys, a, opt)
		readXFrom(plan, []XPlacement{XInPlace, XReplicated, XInterleaved}[i/2%3])
		multiply(t, plan, Transpose(i%5 == 0), 1, x, 0, y)
		held = max(held, plan.Bytes())
		require.NoError(t, plan.Close())
		require.Zero(t, inUse(sys))
	})
	require.Greater(t, held, int64(1<<19), "a plan holds its own copy")
	require.NoError(t, sys.Close())
	require.Equal(t, before, mem.Mapped())
	for _, m := range sys.Placement().Nodes {
		require.Zero(t, m.Bytes, "results of workers are freed too")
	}
}

func TestAThousandPlansThatFailHalfWayLeaveResidentMemoryFlat(t *testing.T) {
	before := mem.Mapped()
	ctx := context.Background()
	a := wideMatrix(1 << 13)
	left := 0
	sys := newSystem()
	for i := range 3 {
		d, err := cpu.Open(cpu.Config{Index: i, Threads: 2, NUMANode: i / 2})
		require.NoError(t, err)
		var dev kernels.Device = d
		if i == 1 { // only one device fails, so that the order of its allocations is fixed
			dev = failing{d, &left}
		}
		sys.devices().List = append(sys.devices().List, dev)
	}
	sys.place(&numa.Topology{})
	failed := 0
	requireFlatMemory(t, 1000, func(i int) {
		left = 1 + i%6
		opt := PlanOptions{SkipValidation: true, Variant: Variant{Strategy: []Strategy{Optimized, Partial}[i%2]}, Storage: Storage{Format: []sparse.Format{sparse.FormatCSR, sparse.FormatCOO}[i/2%2]}}
		plan, err := NewPlan(ctx, sys, a, opt)
		if err != nil {
			require.ErrorIs(t, err, errInjected)
			require.Nil(t, plan)
			failed++
		} else {
			require.NoError(t, plan.Close())
		}
		require.Zero(t, inUse(sys), "allocations before the failure are freed")
	})
	require.Greater(t, failed, 500)
	require.NoError(t, sys.Close())
	require.Equal(t, before, mem.Mapped())
}

func TestAProductThatFailsHalfWayLeavesNothingBehind(t *testing.T) {
	ctx := context.Background()
	const n = 1 << 15
	a := spreadMatrix(n, 8) // enough entries for copies of x
	x, y := make([]float64, n), make([]float64, n)
	for _, op := range []Transpose{NoTrans, Trans} {
		left := -1
		d, err := cpu.Open(cpu.Config{Threads: 2, NUMANode: 0})
		require.NoError(t, err)
		e, err := cpu.Open(cpu.Config{Index: 1, Threads: 2, NUMANode: 1})
		require.NoError(t, err)
		sys := newSystem(failing{d, &left}, e)
		sys.place(&numa.Topology{})
		plan := planOf(t, sys, a, PlanOptions{})
		left = 1
		err = plan.SpMV(ctx, op, 1, x, 0, y)
		require.ErrorIs(t, err, errInjected)
		err = plan.SpMV(ctx, op, 1, x, 0, y)
		require.ErrorContains(t, err, "unusable after an earlier error")
		require.NoError(t, plan.Close())
		require.NoError(t, sys.Close(), "all is freed")
	}
}

func TestThreadsOfClosedSystemsEnd(t *testing.T) {
	threads := func() int {
		list, err := os.ReadDir("/proc/self/task")
		require.NoError(t, err)
		return len(list)
	}
	before := threads()
	for range 100 {
		sys, err := openOn(thisMachineTwice(t), Config{Devices: "cpu:4", Threads: 8, NUMA: NUMAOn})
		require.NoError(t, err)
		require.NoError(t, sys.Close())
	}
	// The runtime may keep some threads; 800 were started.
	require.Eventually(t, func() bool { return threads() < before+30 }, 5*time.Second, 10*time.Millisecond)
}

// failing is a CPU device on which allocation number *left fails.
type failing struct {
	*cpu.Device
	left *int
}

func (f failing) Alloc(bytes int64) (kernels.Buffer, error) {
	if *f.left--; *f.left == 0 {
		return nil, errInjected
	}
	return f.Device.Alloc(bytes)
}
