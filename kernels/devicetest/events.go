package devicetest

import (
	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
)

// lane is a device with a stream and an event.
type lane struct {
	d kernels.Device
	s kernels.Stream
	e kernels.Event
}

func newLane(t require.TestingT, d kernels.Device) lane {
	s, err := d.NewStream()
	require.NoError(t, err)
	e, err := d.NewEvent()
	require.NoError(t, err)
	return lane{d, s, e}
}

func (l lane) close(t require.TestingT) {
	require.NoError(t, l.e.Close())
	require.NoError(t, l.s.Close())
}

func (l lane) fill(t require.TestingT, y kernels.Array[float64], v float64) {
	require.NoError(t, l.s.Launch(&kernels.Fill[float64]{Y: y, Value: v}))
}

// Events checks that streams wait for each other's events, on one device or on two of
// a kind. other makes an event of another kind of device.
func Events(t require.TestingT, a, b kernels.Device, other kernels.Event) {
	from, to := newLane(t, a), newLane(t, b)
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
	for v := 1.0; v <= 3; v++ { // the event is recorded anew
		from.fill(t, x, v)
		require.NoError(t, from.s.Record(from.e))
		require.NoError(t, to.s.Wait(from.e))
		pass()
		require.NoError(t, to.s.Record(to.e))
		require.NoError(t, from.s.Wait(to.e))
		from.fill(t, x, -v) // after the copy, also where this stream is the first to be waited for
		require.NoError(t, from.s.Sync())
		copied(v)
	}

	once, err := a.NewEvent() // which is gone before anybody waits for the stream
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
