//go:build cuda

package nvidia

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/nvidiatest"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/kernels"
)

// onThree opens a device on each of three GPUs, with a stream and an event.
func onThree(t *testing.T) (devices []*Device, streams []kernels.Stream, events []kernels.Event) {
	standIn(t, nvidiatest.Machine{GPUs: 3})
	for i := range 3 {
		d, err := Open(Config{GPU: i, Node: -1})
		require.NoError(t, err)
		s, err := d.NewStream()
		require.NoError(t, err)
		e, err := d.NewEvent()
		require.NoError(t, err)
		devices, streams, events = append(devices, d.(*Device)), append(streams, s), append(events, e)
	}
	return devices, streams, events
}

// within fails unless f returns in time.
func within(t *testing.T, most time.Duration, f func()) {
	begin := time.Now()
	ended := make(chan bool)
	go func() {
		defer close(ended)
		f()
	}()
	select {
	case <-ended:
	case <-time.After(10 * most):
	}
	require.Less(t, time.Since(begin), most)
}

// GPU 1 waits for GPU 0, and GPU 2 for GPU 1. GPU 0 is lost before it reaches its event.
func TestALostGPUEndsTheCallsOfThoseThatWaitForIt(t *testing.T) {
	devices, streams, events := onThree(t)
	y, err := kernels.NewArray[float64](devices[0], 4)
	require.NoError(t, err)
	for i, s := range streams {
		if i > 0 {
			require.NoError(t, s.Wait(events[i-1]))
		} else {
			require.NoError(t, s.Launch(&kernels.Fill[float64]{Y: y}))
		}
		require.NoError(t, s.Record(events[i]))
		require.NoError(t, devices[i].OnThread(func() {})) // the calls have reached the driver
	}
	nvidiatest.Lose(0, 719)
	errs := make([]error, 3)
	within(t, 2*time.Second, func() { par.Do(2, func(i int) { errs[i+1] = streams[i+1].Sync() }) })
	for i, err := range errs[1:] {
		require.EqualError(t, err, []string{
			"device cuda:1: sync: it waits for device cuda:0, which was lost: CUDA error 719, unspecified launch failure",
			"device cuda:2: sync: it waits for device cuda:0, which was lost: CUDA error 719, unspecified launch failure"}[i])
		require.ErrorIs(t, err, kernels.ErrBadAccess)
	}
	errs[0] = streams[0].Sync()
	require.EqualError(t, devvec.JoinErrors(errs), "device cuda:0: sync: after fill: CUDA error 719, unspecified launch failure", "one error")
	within(t, time.Second, func() {
		require.NoError(t, y.Free())
		for i, d := range devices {
			_, err := d.Alloc(8)
			require.ErrorContains(t, err, "was lost", "%d", i)
			require.NoError(t, d.Close())
		}
	})
	require.Empty(t, opened.gpus)
	require.Zero(t, openDevices.Load())
}

func TestALossDoesNotAffectDevicesThatDoNotWaitForIt(t *testing.T) {
	devices, streams, events := onThree(t)
	other, err := Open(Config{GPU: 1, Copy: 1, Node: -1})
	require.NoError(t, err)
	s := fresh(t, other.(*Device))
	y, err := kernels.NewArray[float64](other, 4)
	require.NoError(t, err)
	// GPU 2 waits for an event that is reached before the loss.
	require.NoError(t, errors.Join(streams[0].Record(events[0]), events[0].Sync(), streams[2].Wait(events[0]), devices[2].OnThread(func() {})))
	x, err := kernels.NewArray[float64](devices[0], 4)
	require.NoError(t, err)
	require.NoError(t, errors.Join(streams[0].Launch(&kernels.Fill[float64]{Y: x}), streams[0].Record(events[0]), streams[1].Wait(events[0])))
	require.NoError(t, errors.Join(devices[0].OnThread(func() {}), devices[1].OnThread(func() {})))
	nvidiatest.Lose(0, 700)
	require.NoError(t, streams[2].Sync())
	require.ErrorContains(t, streams[1].Sync(), "it waits for device cuda:0, which was lost")
	got := make([]float64, 4)
	require.NoError(t, errors.Join(s.Launch(&kernels.Fill[float64]{Y: y, Value: 3}), y.Read(s, got), s.Sync()))
	require.Equal(t, []float64{3, 3, 3, 3}, got, "the other device on GPU 1")
	require.NoError(t, errors.Join(x.Free(), y.Free()))
	for _, d := range devices {
		require.NoError(t, d.Close())
	}
	require.NoError(t, other.Close())
}

// Without a limit, launches on a stream that waits would fill the queue of the driver.
func TestCallsOnAStreamThatWaitsForAnotherGPUAreLimited(t *testing.T) {
	devices, streams, events := onThree(t)
	nvidiatest.Fail("", 0, 0)
	y, err := kernels.NewArray[float64](devices[1], 4)
	require.NoError(t, err)
	require.NoError(t, errors.Join(streams[0].Record(events[0]), streams[1].Wait(events[0])))
	for range 10 * callsInFlight {
		require.NoError(t, streams[1].Launch(&kernels.Fill[float64]{Y: y}))
	}
	require.NoError(t, streams[1].Sync())
	calls := nvidiatest.Calls()
	require.Equal(t, 1+20, calls["cuEventRecord"])
	require.GreaterOrEqual(t, calls["cuEventQuery"], 19)
	require.NoError(t, y.Free())
	for i, d := range devices {
		require.NoError(t, errors.Join(events[i].Close(), streams[i].Close(), d.Close()))
	}
}
