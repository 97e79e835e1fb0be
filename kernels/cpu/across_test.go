package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/numa"
)

// foreign is a device that is no CPU device.
type foreign struct{ kernels.Device }

func (foreign) Info() kernels.Info { return kernels.Info{ID: "other:0"} }

func TestMemoryAcrossDevicesIsCountedByEachAndFreedOnce(t *testing.T) {
	here, err := numa.Affinity()
	if err != nil {
		t.Skip(err)
	}
	var devices []kernels.Device
	for i := range 3 {
		devices = append(devices, open(t, Config{Index: i, Threads: 1, NUMANode: 0, CPUs: here}))
	}
	inUse := func() (out []int64) {
		for _, d := range devices {
			out = append(out, d.InUse())
		}
		return out
	}
	b, err := AllocAcross(1<<20, devices)
	require.NoError(t, err)
	require.Equal(t, int64(1<<20), b.Bytes())
	require.Equal(t, []int64{349525, 349525, 349526}, inUse())
	require.NoError(t, b.Free())
	require.NoError(t, b.Free(), "a second Free does nothing")
	require.Equal(t, []int64{0, 0, 0}, inUse())
	for _, d := range devices {
		require.NoError(t, d.Close())
	}
	_, err = AllocAcross(64, devices)
	require.ErrorIs(t, err, kernels.ErrClosed)
}

func TestAFailedAllocationAcrossDevicesCountsNothing(t *testing.T) {
	wide := open(t, Config{Threads: 1, NUMANode: -1})
	narrow := open(t, Config{Index: 1, Threads: 1, NUMANode: -1, Memory: 100})
	both := []kernels.Device{wide, narrow}
	_, err := AllocAcross(202, both)
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	_, err = AllocAcross(-1, both)
	require.ErrorIs(t, err, kernels.ErrArgument)
	_, err = AllocAcross(1<<60, both[:1])
	require.ErrorIs(t, err, kernels.ErrOutOfMemory)
	_, err = AllocAcross(64, nil)
	require.ErrorIs(t, err, kernels.ErrArgument)
	_, err = AllocAcross(64, []kernels.Device{wide, foreign{wide}})
	require.ErrorContains(t, err, "other:0 is no CPU device")
	require.Zero(t, wide.InUse()+narrow.InUse())
	require.NoError(t, wide.Close())
	require.NoError(t, narrow.Close())
}
