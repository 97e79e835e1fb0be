//go:build cuda

package msrep

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/nvidiatest"
)

func TestMatrixProductsOnGPUsHaveTheBitsOfCPUs(t *testing.T) {
	if !onGPU(t) {
		return
	}
	for _, devices := range []string{"cuda", "cuda:0,0,0,0"} {
		sys := openCPU(t, devices)
		for name, m := range productCases(t) {
			p, err := NewMatrixProduct[float64](ctx, sys, m[0], m[1])
			require.NoError(t, err, name)
			requireMatrix(t, plainMatrixProduct(m[0], m[1]), p.Result())
			next := *m[1]
			next.Val = slices.Clone(next.Val)
			for k := range next.Val {
				next.Val[k] *= 1.5
			}
			require.NoError(t, p.UpdateValues(ctx, nil, next.Val), name)
			requireMatrix(t, plainMatrixProduct(m[0], &next), p.Result())
			require.NoError(t, p.Close())
		}
	}
}

func TestAFailingGPUEndsAMatrixProduct(t *testing.T) {
	if !onGPU(t) || !nvidiatest.Attached() {
		return
	}
	m := productCases(t)["a stencil"]
	for _, entry := range []string{"cuLaunchKernel", "cuMemAllocAsync", "cuMemcpyHtoDAsync_v2", "cuStreamQuery"} {
		for nth := 1; nth <= 4; nth++ {
			nvidiatest.Reset(nvidiatest.Machine{GPUs: 2, Memory: 1 << 30})
			sys, err := Open(Config{Devices: "cuda"})
			require.NoError(t, err)
			nvidiatest.Fail(entry, nth, 719)
			p, err := NewMatrixProduct[float64](ctx, sys, m[0], m[1])
			require.Error(t, err, "%s, call %d", entry, nth)
			require.Nil(t, p)
			nvidiatest.Fail("", 0, 0)
			require.Empty(t, sys.devices().Opened)
			require.NoError(t, sys.Close())
			require.Empty(t, nvidiatest.Live(), "%s, call %d", entry, nth)
		}
	}
}
