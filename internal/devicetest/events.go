package devicetest

import (
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

// endpoint is a device with a stream and an event.
type endpoint struct {
	d kernels.Device
	s kernels.Stream
	e kernels.Event
}

func newEndpoint(t require.TestingT, d kernels.Device) endpoint {
	s, err := d.NewStream()
	require.NoError(t, err)
	e, err := d.NewEvent()
	require.NoError(t, err)
	return endpoint{d, s, e}
}

func (p endpoint) close(t require.TestingT) {
	require.NoError(t, p.e.Close())
	require.NoError(t, p.s.Close())
}

func (p endpoint) fill(t require.TestingT, y kernels.Array[float64], v float64) {
	require.NoError(t, p.s.Launch(&kernels.Fill[float64]{Y: y, Value: v}))
}

// Events checks that streams wait for each other's events, on one device or on two of
// the same kind. other creates an event of another kind of device.
func Events(t require.TestingT, a, b kernels.Device, other kernels.Event) {
	from, to := newEndpoint(t, a), newEndpoint(t, b)
	defer from.close(t)
	defer to.close(t)
	const n = 1000
	x, y := Upload(t, from.s, a, make([]float64, n)), Upload(t, to.s, b, make([]float64, n))
	require.NoError(t, from.s.Sync())
	require.NoError(t, to.s.Sync())
	copied := func(want float64) {
		got := Download(t, to.s, y)
		require.Equal(t, []float64{want, want}, []float64{got[0], got[n-1]})
	}
	pass := func() { require.NoError(t, to.s.Copy(y.Buf, y.Off, x.Buf, x.Off, 8*n)) }

	require.NoError(t, to.s.Wait(from.e), "never recorded")
	require.NoError(t, from.e.Sync(), "never recorded")
	require.NoError(t, to.s.Wait(other))
	for v := 1.0; v <= 3; v++ { // each round records the event again
		from.fill(t, x, v)
		require.NoError(t, from.s.Record(from.e))
		require.NoError(t, to.s.Wait(from.e))
		pass()
		require.NoError(t, to.s.Record(to.e))
		require.NoError(t, from.s.Wait(to.e))
		from.fill(t, x, -v) // after the copy, also if this stream is the first that others wait for
		require.NoError(t, from.s.Sync())
		copied(v)
	}

	once, err := a.NewEvent() // is closed before anything waits for the stream
	require.NoError(t, err)
	from.fill(t, x, 7)
	require.NoError(t, from.s.Record(once))
	require.NoError(t, to.s.Wait(once))
	require.NoError(t, once.Close())
	pass()
	copied(7)
	require.NoError(t, from.s.Record(from.e))
	require.NoError(t, from.e.Sync())
	require.NoError(t, from.s.Wait(from.e), "of its own")
	require.NoError(t, from.s.Sync())
	require.ErrorIs(t, to.s.Wait(nil), kernels.ErrArgument)
	require.NoError(t, x.Free())
	require.NoError(t, y.Free())
}
