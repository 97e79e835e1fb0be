//go:build cuda

package nvidia

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/internal/cuda/launch"
)

// exchanges checks the operations that read other devices.
func exchanges(t *testing.T, list ...*Device) {
	var devices []kernels.Device
	for _, d := range list {
		devices = append(devices, d)
	}
	t.Run("float64", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { devicetest.Exchange[float64](t, devices) }) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { devicetest.Exchange[float32](t, devices) }) })
}

func TestDevicesOfOneGPUReadEachOther(t *testing.T) {
	a, _ := open(t, Config{})
	b, _ := open(t, Config{Copy: 1})
	exchanges(t, a, b)
}

func TestConnectedGPUsReadEachOther(t *testing.T) {
	for _, m := range []nvidiatest.Machine{{GPUs: 3}, {GPUs: 3, NoPools: true}} {
		standIn(t, m)
		v := openAll(t, 3, false)
		v.connect(t)
		exchanges(t, v.d...)
		for _, d := range v.d {
			require.NoError(t, d.Close())
		}
	}
}

// anyMemory is the memory of a device that takes arrays of all devices.
type anyMemory struct{ *Device }

func (m anyMemory) PeerAddress(_ string, b kernels.Buffer, off, n int64) (launch.Addr, error) {
	_, at, err := window(b, off, n)
	return launch.Addr(at), err
}

func TestAnUnconnectedGPUIsNotRead(t *testing.T) {
	for _, connected := range []bool{false, true} {
		standIn(t, nvidiatest.Machine{GPUs: 2})
		v := openAll(t, 2, false)
		if connected {
			v.connect(t)
		}
		x := devicetest.Upload(t, v.s[1], v.d[1], []float64{1, 2, 3})
		y := devicetest.Upload(t, v.s[0], v.d[0], make([]float64, 3))
		require.NoError(t, v.s[1].Sync())
		op := &kernels.Pull[float64]{Sources: []kernels.PullSource[float64]{{X: x.Sub(1, 3), N: 2}}, Y: y}
		err := v.s[0].Launch(op)
		require.Equal(t, connected, err == nil)
		if !connected {
			require.ErrorIs(t, err, kernels.ErrArgument)
			require.ErrorContains(t, err, "x0: invalid argument: it is on device cuda:1, which device cuda:0 does not read")
		}
		// Without the check, the launch fails as it does on GPUs.
		prog, err := launch.Plan(op, anyMemory{v.d[0]}, launch.Vector)
		require.NoError(t, err)
		require.NoError(t, v.s[0].later("pull", 0, func() error { return v.s[0].run(prog) }))
		err = v.s[0].Sync()
		require.Equal(t, connected, err == nil)
		if connected {
			require.Equal(t, []float64{2, 3, 0}, devicetest.Download(t, v.s[0], y))
		} else {
			require.ErrorContains(t, err, "unspecified launch failure")
		}
		require.NoError(t, x.Free())
		require.NoError(t, y.Free())
		for _, d := range v.d {
			require.NoError(t, d.Close())
		}
	}
}

func TestAPairWhoseReadsLoseDataIsNotRead(t *testing.T) {
	standIn(t, nvidiatest.Machine{GPUs: 2, Links: "pcie"})
	nvidiatest.SetLie(0, 1, nvidiatest.LieRead)
	v := openAll(t, 2, false)
	v.connect(t)
	x := devicetest.Upload(t, v.s[0], v.d[0], []float64{1})
	y := devicetest.Upload(t, v.s[1], v.d[1], []float64{0})
	op := &kernels.Pull[float64]{Sources: []kernels.PullSource[float64]{{X: x, N: 1}}, Y: y}
	require.ErrorIs(t, v.s[1].Launch(op), kernels.ErrArgument)
	require.NoError(t, v.s[0].Sync())
	require.NoError(t, v.s[0].Launch(&kernels.Pull[float64]{Sources: []kernels.PullSource[float64]{{X: y, N: 1}}, Y: x}), "the other way")
	require.Equal(t, []float64{0}, devicetest.Download(t, v.s[0], x))
	require.NoError(t, x.Free())
	require.NoError(t, y.Free())
}
