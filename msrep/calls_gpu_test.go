//go:build cuda

package msrep

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
)

// TestTheDriverCallsOfAProductOnGPUs counts all calls that the driver receives during a product.
func TestTheDriverCallsOfAProductOnGPUs(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	const mostCalls = 12
	for _, p := range []int{2, 4, 8} {
		nvidiatest.Reset(nvidiatest.Machine{GPUs: p, Memory: 1 << 30})
		for _, m := range exchangeMatrices {
			sys, err := Open(Config{Devices: "cuda"})
			require.NoError(t, err)
			require.Len(t, sys.Devices(), p)
			plan := planOf[float64](t, sys, generated(t, m.spec), PlanOptions{Variant: Variant{Library: LibraryOwn}})
			x, err := plan.ColumnVector()
			require.NoError(t, err)
			y, err := plan.RowVector()
			require.NoError(t, err)
			require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y)) // prepares the exchange
			require.NoError(t, y.Wait())
			before := nvidiatest.Calls()
			const products = 3
			for range products {
				require.NoError(t, plan.Apply(t.Context(), NoTrans, 2, x, 0.5, y))
			}
			require.NoError(t, y.Wait())
			all, each := 0, map[string]int{}
			for name, n := range nvidiatest.Calls() {
				if n -= before[name]; n > 0 && !slices.Contains([]string{"cuStreamQuery", "cuEventQuery", "cuCtxSetCurrent"}, name) { // of Wait, which asks until all is done
					each[name] = n
					all += n
				}
			}
			t.Logf("%s on %d GPUs: calls per device per product: %.1f, of %d products: %v", m.name, p, float64(all)/float64(p*products), products, each)
			require.LessOrEqual(t, all, mostCalls*p*products, fmt.Sprint(each))
			require.Zero(t, each["cuCtxEnablePeerAccess"], "access is enabled when GPUs are opened")
			require.Zero(t, each["cuMemcpyPeerAsync"]+each["cuMemcpyDtoDAsync_v2"], "kernels read the other GPUs")
			require.NoError(t, sys.Close())
		}
	}
}
