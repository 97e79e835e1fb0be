//go:build qemu && linux && cuda

package msrep

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep/internal/placement"
	"github.com/msrep-go/msrep/numa"
)

// The stand-in for the driver presents two PCI devices of the machine, on nodes 0 and 1, as its GPUs.
func TestOnNodesGPUsHaveTheirThreadsAndPinnedMemoryOnTheirNodes(t *testing.T) {
	nodes := machine(t)
	require.True(t, nvidiatest.Attached(), "MSREP_LIBCUDA is the stand-in")
	topo, err := numa.Discover("/")
	require.NoError(t, err)
	require.Len(t, topo.GPUs, 2)
	t.Setenv("MSREP_STANDIN_PCI", strings.Join([]string{topo.GPUs[1].PCI, topo.GPUs[0].PCI}, ",")) // the order of the driver
	ctx := context.Background()
	const n = 3000
	a := wideMatrix(n)
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = float64(i%13) - 6
	}
	for _, pin := range []bool{true, false} {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: 2, Memory: 64 << 20})
		sys, err := Open(Config{Devices: "cuda"})
		require.NoError(t, err)
		if !pin { // without pinning, the memory is from the driver
			nvidiatest.Fail("cuMemHostRegister_v2", 1, 801)
		}
		plan, err := NewPlan(ctx, sys, a, PlanOptions{})
		require.NoError(t, err)
		want := reference.Multiply(false, 2, a, x, 0, y)
		err = plan.SpMV(ctx, NoTrans, 2, x, 0, y)
		require.NoError(t, err)
		require.Equal(t, -1, reference.Check(y, want))
		require.Equal(t, pin, sys.Placement().Refused == "")

		parts := plan.Nodes()
		require.Len(t, parts, 2)
		for i, info := range sys.Devices() {
			require.Equal(t, i, info.NUMANode)
			require.Equal(t, topo.GPUs[i].Node, info.NUMANode)
			require.Equal(t, []string{"cuda:1", "cuda:0"}[i], info.ID)
			require.Equal(t, []int{i}, parts[i].Devices)
			require.InDelta(t, plan.NNZ()/2, parts[i].NNZ, 1)
			var cpus []int
			require.NoError(t, placement.OnNode(sys.devices().List[i], func() (err error) {
				cpus, err = numa.Affinity()
				return err
			}))
			require.Equal(t, nodes[i], cpus)
			bytes, pages := sys.devices().List[i].(kernels.Stager).Staging()
			t.Logf("%s: %d bytes of pinned memory, pages by node %v, %d untouched", info.ID, bytes, pages.Nodes, pages.Missing)
			require.NotZero(t, pages.Pages())
			require.GreaterOrEqual(t, pages.Nodes[i]*100, pages.Pages()*99)
			require.GreaterOrEqual(t, sys.Placement().Nodes[i].Bytes, bytes)
		}
		require.NoError(t, sys.Close())
		require.Empty(t, nvidiatest.Live())
	}
}
