package sim_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/devicetest"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/cpu"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

// peers opens several devices.
func peers(t require.TestingT, n int, c sim.Config) (list []*sim.Device) {
	for i := range n {
		c.Index = i
		d, err := sim.Open(c)
		require.NoError(t, err)
		list = append(list, d)
	}
	return list
}

func exchanges[V sparse.Value](t *rapid.T) {
	list := peers(t, rapid.IntRange(1, 4).Draw(t, "devices"), sim.Config{
		Blocks:  rapid.SampledFrom([]int64{0, 1, 3}).Draw(t, "blocks"),
		Workers: rapid.SampledFrom([]int{1, 1, 4}).Draw(t, "workers"),
	})
	var devices []kernels.Device
	for _, d := range list {
		devices = append(devices, d)
	}
	devicetest.Exchange[V](t, devices)
	for _, d := range list {
		require.NoError(t, d.Close())
	}
}

func TestOperationsReadTheMemoryOfOtherDevices(t *testing.T) {
	t.Run("float64", func(t *testing.T) { rapid.Check(t, exchanges[float64]) })
	t.Run("float32", func(t *testing.T) { rapid.Check(t, exchanges[float32]) })
}

// pair is two devices with a stream each, x on the second and y on the first.
type pair struct {
	d    []*sim.Device
	s    []kernels.Stream
	x, y kernels.Array[float64]
	e    kernels.Event
}

func newPair(t *testing.T, c sim.Config) *pair {
	p := &pair{d: peers(t, 2, c)}
	for _, d := range p.d {
		s, err := d.NewStream()
		require.NoError(t, err)
		p.s = append(p.s, s)
	}
	p.y, p.x = upload(t, p.s[0], p.d[0], make([]float64, 2000)), upload(t, p.s[1], p.d[1], slices.Repeat([]float64{3}, 2000))
	require.NoError(t, p.s[0].Sync())
	require.NoError(t, p.s[1].Sync())
	var err error
	p.e, err = p.d[1].NewEvent()
	require.NoError(t, err)
	return p
}

// pull is the pull of all of x to y.
func (p *pair) pull() *kernels.Pull[float64] {
	return &kernels.Pull[float64]{Sources: []kernels.PullSource[float64]{{X: p.x, N: p.x.Len}}, Y: p.y}
}

func TestAPullWithoutAnEventAfterTheWriteIsARace(t *testing.T) {
	for _, op := range []func(p *pair) kernels.Operation{
		func(p *pair) kernels.Operation { return p.pull() },
		func(p *pair) kernels.Operation {
			row := upload(t, p.s[0], p.d[0], []int32{1})
			return &kernels.PullCarries[float64]{Row: row, Carry: []kernels.Array[float64]{p.x.Sub(7, 8)}, Y: p.y}
		},
		func(p *pair) kernels.Operation {
			return &kernels.SumPartials[float64]{P: []kernels.Array[float64]{p.x}, Y: p.y}
		},
	} {
		p := newPair(t, sim.Config{})
		write := func(v float64) {
			require.NoError(t, p.s[1].Launch(&kernels.Fill[float64]{Value: v, Y: p.x}))
		}
		write(4)
		err := p.s[0].Launch(op(p))
		require.ErrorIs(t, err, kernels.ErrArgument)
		require.ErrorContains(t, err, "of a buffer of device sim:1 while fill on a stream of device sim:1 may still be running: call Wait first")
		require.NoError(t, p.s[1].Record(p.e))
		require.NoError(t, p.s[0].Wait(p.e))
		require.NoError(t, p.s[0].Launch(op(p)))

		err = p.s[1].Launch(&kernels.Fill[float64]{Value: 5, Y: p.x}) // while the first device may still read
		require.ErrorContains(t, err, "on a stream of device sim:0 may still be running")
		after, err := p.d[0].NewEvent()
		require.NoError(t, err)
		require.NoError(t, p.s[0].Record(after))
		require.ErrorContains(t, p.x.Free(), "may still be running")
		p.x = upload(t, p.s[1], p.d[1], make([]float64, 2000))
		require.NoError(t, p.s[1].Wait(after))
		write(6)
	}
}

func TestOnlyTheElementsThatAPullUsesAreOrdered(t *testing.T) {
	p := newPair(t, sim.Config{})
	op := &kernels.Pull[float64]{Y: p.y, Sources: []kernels.PullSource[float64]{{X: p.x, N: 100, First: 5}, {X: p.x, N: 10, First: 500}}}
	require.NoError(t, p.s[1].Launch(&kernels.Fill[float64]{Value: 4, Y: p.x.Sub(100, 200)}))
	require.NoError(t, p.s[0].Launch(op))
	back := &kernels.Pull[float64]{Y: p.x.Sub(100, 600), Sources: []kernels.PullSource[float64]{{X: p.y.Sub(105, 500), N: 395}}}
	require.NoError(t, p.s[1].Launch(back), "the first device writes other elements")
	back.Sources[0].X = p.y.Sub(104, 500)
	require.ErrorContains(t, p.s[1].Launch(back), "while pull on a stream of device sim:0")
	got := download(t, p.s[0], p.y)
	require.Equal(t, []float64{0, 3, 3, 0, 0, 3, 3, 0}, []float64{got[4], got[5], got[104], got[105], got[499], got[500], got[509], got[510]})
}

func TestReadsOfEachDeviceAreCounted(t *testing.T) {
	d := peers(t, 3, sim.Config{})
	var x []kernels.Array[float64]
	var s []kernels.Stream
	for i, on := range d {
		stream, err := on.NewStream()
		require.NoError(t, err)
		s = append(s, stream)
		x = append(x, upload(t, stream, on, slices.Repeat([]float64{float64(i)}, 5000)))
		require.NoError(t, stream.Sync())
	}
	y := upload(t, s[0], d[0], make([]float64, 5000))
	idx := upload(t, s[0], d[0], []int32{0, 1, 2, 3, 4000, 4001}) // in two sectors
	require.NoError(t, s[0].Launch(&kernels.Pull[float64]{Y: y, Sources: []kernels.PullSource[float64]{
		{X: x[1], N: 2000}, {X: x[2], Idx: idx, First: 2000}, {X: x[0], N: 100, First: 3000},
	}}))
	require.Equal(t, sim.PeerReads{Kernels: 8 * 2000}, d[0].PeerReads(d[1]))
	require.Equal(t, sim.PeerReads{Kernels: 64}, d[0].PeerReads(d[2]))
	require.Zero(t, d[0].PeerReads(d[0]))
	require.Zero(t, d[1].PeerReads(d[0]))
	require.NoError(t, s[0].Copy(y.Buf, y.Off, x[2].Buf, x[2].Off, 8*70))
	require.NoError(t, s[0].Copy(y.Buf, y.Off, x[0].Buf, x[0].Off, 8*70))
	require.Equal(t, sim.PeerReads{Kernels: 64, Copies: 560}, d[0].PeerReads(d[2]))
	require.Zero(t, d[0].PeerReads(d[0]))
}

func TestAPairOfDevicesCanBeUnableToRead(t *testing.T) {
	p := newPair(t, sim.Config{Reads: func(from *sim.Device) bool { return from.Info().ID != "sim:1" }})
	require.False(t, kernels.ReadsPeer(p.d[0], p.d[1]))
	require.True(t, kernels.ReadsPeer(p.d[1], p.d[0]))
	require.True(t, kernels.ReadsPeer(p.d[1], p.d[1]))
	err := p.s[0].Launch(p.pull())
	require.ErrorIs(t, err, kernels.ErrArgument)
	require.ErrorContains(t, err, "x0: invalid argument: it is on device sim:1")
	require.NoError(t, p.s[0].Copy(p.y.Buf, 0, p.x.Buf, 0, 80), "copies need no reads")

	host, err := cpu.Open(cpu.Config{Threads: 1, NUMANode: -1})
	require.NoError(t, err)
	require.False(t, kernels.ReadsPeer(p.d[1], host))
	require.False(t, kernels.ReadsPeer(host, p.d[1]))
	require.NoError(t, host.Close())
	require.NoError(t, p.y.Free())
	require.NoError(t, p.d[0].Close())
	require.False(t, kernels.ReadsPeer(p.d[1], p.d[0]), "closed")
}

func TestDevicesThatReadEachOtherAtTheSameTimeDoNotWaitForEver(t *testing.T) {
	d := peers(t, 4, sim.Config{Unchecked: true})
	var x, y []kernels.Array[float64]
	var s []kernels.Stream
	for i, on := range d {
		stream, err := on.NewStream()
		require.NoError(t, err)
		s = append(s, stream)
		x = append(x, upload(t, stream, on, slices.Repeat([]float64{float64(i)}, 100)))
		y = append(y, upload(t, stream, on, make([]float64, 400)))
		require.NoError(t, stream.Sync())
	}
	done := make(chan error, len(d))
	for i := range d {
		go func() {
			var err error
			for range 20 {
				op := &kernels.Pull[float64]{Y: y[i]}
				for k := range d {
					from := (i + 1 + k) % len(d)
					op.Sources = append(op.Sources, kernels.PullSource[float64]{X: x[from], N: 100, First: int64(100 * from)})
				}
				if e := s[i].Launch(op); e != nil {
					err = e
				}
			}
			done <- err
		}()
	}
	for range d {
		require.NoError(t, <-done)
	}
	for i := range d {
		got := download(t, s[i], y[i])
		require.Equal(t, []float64{0, 1, 2, 3}, []float64{got[0], got[100], got[200], got[399]})
	}
}
