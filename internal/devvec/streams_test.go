package devvec

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
)

// counted is a stream that counts the calls of Record and Wait.
type counted struct {
	kernels.Stream
	calls int
}

func (s *counted) Record(e kernels.Event) error {
	s.calls++
	return s.Stream.Record(e)
}

func (s *counted) Wait(e kernels.Event) error {
	s.calls++
	return s.Stream.Wait(e)
}

func TestABarrierOrdersTheStreamsWithAtMostFourCallsEach(t *testing.T) {
	for _, c := range []struct {
		name  string
		after func(i, j int) bool
	}{
		{"all", everyDevice},
		{"neighbours", func(i, j int) bool { return i-j == 1 || j-i == 1 }},
		{"the first waits for all", func(i, _ int) bool { return i == 0 }},
		{"all wait for the first", func(_, j int) bool { return j == 0 }},
	} {
		for _, n := range []int{1, 2, 3, 4, 5, 8, 13} {
			t.Run(fmt.Sprintf("%s of %d", c.name, n), func(t *testing.T) { checkBarrier(t, n, c.after) })
		}
	}
}

// checkBarrier lets n streams write, wait and read what others wrote. A simulated stream refuses to read what another stream
// may still be writing.
func checkBarrier(t *testing.T, n int, after func(i, j int) bool) {
	var s Streams
	var devices []kernels.Device
	var bufs []kernels.Buffer
	for i := range n {
		d, err := sim.Open(sim.Config{Index: i})
		require.NoError(t, err)
		stream, err := d.NewStream()
		require.NoError(t, err)
		buf, err := d.Alloc(8)
		require.NoError(t, err)
		devices, bufs, s.On = append(devices, d), append(bufs, buf), append(s.On, &counted{Stream: stream})
	}
	require.NoError(t, s.AddEvents(devices))
	for range 3 { // the events are used again
		for i, stream := range s.On {
			require.NoError(t, stream.Write(bufs[i], 0, make([]byte, 8)))
			stream.(*counted).calls = 0
		}
		if n > 1 && after(0, 1) {
			require.ErrorIs(t, s.On[0].Read(make([]byte, 8), bufs[1], 0), kernels.ErrArgument, "before the barrier")
		}
		require.NoError(t, s.Barrier(after))
		for i, stream := range s.On {
			require.LessOrEqual(t, stream.(*counted).calls, 4)
			for j, buf := range bufs {
				if i != j && after(i, j) {
					require.NoError(t, stream.Read(make([]byte, 8), buf, 0), "%d reads from %d", i, j)
				}
			}
		}
		require.NoError(t, s.Sync())
	}
	errs := []error{s.CloseEvents()}
	for i, d := range devices {
		errs = append(errs, s.On[i].Close(), bufs[i].Free(), d.Close())
	}
	require.NoError(t, errors.Join(errs...))
}
