package msrep

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
)

// callLog is the calls that the streams of one simulated GPU have received.
type callLog struct {
	records int
	waits   int
	copies  int
	kernels atomic.Int64 // launches of kernels: an operation may take several
	pulled  []kernels.Array[float64]
	copied  []kernels.Buffer // sources of copies, in order
}

// calls returns the number of calls of the driver that a GPU would need.
func (l *callLog) calls() int { return l.records + l.waits + l.copies + int(l.kernels.Load()) }

// loggedStream is a stream that logs its calls.
type loggedStream struct {
	kernels.Stream
	log *callLog
}

func (s loggedStream) Record(e kernels.Event) error {
	s.log.records++
	return s.Stream.Record(e)
}

func (s loggedStream) Wait(e kernels.Event) error {
	s.log.waits++
	return s.Stream.Wait(e)
}

func (s loggedStream) Copy(dst kernels.Buffer, dstOff int64, src kernels.Buffer, srcOff, bytes int64) error {
	s.log.copies++
	s.log.copied = append(s.log.copied, src)
	return s.Stream.Copy(dst, dstOff, src, srcOff, bytes)
}

func (s loggedStream) Launch(op kernels.Operation) error {
	if p, ok := op.(*kernels.Pull[float64]); ok {
		for _, from := range p.Sources {
			s.log.pulled = append(s.log.pulled, from.X)
		}
	}
	return s.Stream.Launch(op)
}

// loggedGPUs returns a System of simulated GPUs and the logs of their streams. reads reports which GPUs read each other's
// memory; nil means all.
func loggedGPUs(t *testing.T, n int, reads func(i, j int) bool) (*System, []*callLog) {
	sys := newSystem()
	logs := make([]*callLog, n)
	byDevice := map[kernels.Device]*callLog{}
	for i := range n {
		l := &callLog{}
		c := sim.Config{Index: i, Trace: func(string, sim.Counters) { l.kernels.Add(1) }}
		if reads != nil {
			c.Reads = func(from *sim.Device) bool {
				for j, d := range sys.devices().List {
					if d == kernels.Device(from) {
						return reads(i, j)
					}
				}
				return false
			}
		}
		d, err := sim.Open(c)
		require.NoError(t, err)
		sys.devices().List = append(sys.devices().List, d)
		logs[i], byDevice[d] = l, l
	}
	sys.devices().Traced = func(d kernels.Device, s kernels.Stream) kernels.Stream { return loggedStream{s, byDevice[d]} }
	t.Cleanup(func() { require.NoError(t, sys.Close()) })
	return sys, logs
}

// exchangeMatrices are patterns with different exchanges: of most elements with all devices, with neighbours, with rows that
// several devices share, and of few elements, which are listed.
var exchangeMatrices = []struct{ name, spec string }{
	{"random", "random:rows=1k,nnz=8k"},
	{"banded", "banded:n=1k,band=5"},
	{"power-law", "powerlaw:rows=1k"},
	{"sparse", "random:rows=1k,nnz=700"},
}

// sourcesOf returns the devices that device i has read x from, in order.
func sourcesOf(sys *System, l *callLog) (from []int) {
	device := func(b kernels.Buffer) int {
		for j, d := range sys.devices().List {
			if b.Device() == d {
				return j
			}
		}
		return -1
	}
	for _, b := range l.copied {
		from = append(from, device(b))
	}
	for _, x := range l.pulled {
		from = append(from, device(x.Buf))
	}
	return from
}

func TestTheCallsOfAProductDoNotGrowWithTheNumberOfDevices(t *testing.T) {
	const mostCalls = 12
	for _, p := range []int{2, 4, 8} {
		for _, m := range exchangeMatrices {
			t.Run(fmt.Sprintf("%s on %d", m.name, p), func(t *testing.T) {
				sys, logs := loggedGPUs(t, p, nil)
				plan := planOf[float64](t, sys, generated(t, m.spec), PlanOptions{})
				x, err := plan.ColumnVector()
				require.NoError(t, err)
				y, err := plan.RowVector()
				require.NoError(t, err)
				require.NoError(t, x.Fill(1))
				require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y)) // prepares the exchange
				for range 2 {
					for _, l := range logs {
						l.records, l.waits, l.copies, l.pulled, l.copied = 0, 0, 0, nil, nil
						l.kernels.Store(0)
					}
					require.NoError(t, plan.Apply(t.Context(), NoTrans, 2, x, 0.5, y))
					most := 0
					for _, l := range logs {
						most = max(most, l.calls())
						require.Zero(t, l.copies, "kernels read the other devices")
					}
					t.Logf("calls per device per product: %d", most)
					require.LessOrEqual(t, most, mostCalls)
					checkSources(t, sys, logs, m.name == "random")
				}
			})
		}
	}
}

// checkSources checks that no device copies its own piece of x, and that in each step of an exchange no two devices read from
// the same one: in step k device i reads from device i+k, if it needs something there. With all, each device needs elements
// of all others.
func checkSources(t *testing.T, sys *System, logs []*callLog, all bool) {
	p := len(logs)
	for i, l := range logs {
		last := 0
		from := sourcesOf(sys, l)
		for _, j := range from {
			step := (j - i + p) % p
			require.Greater(t, step, last, "device %d reads from %v", i, from)
			last = step
		}
		if all {
			require.Len(t, from, p-1)
		}
	}
}

// quads reports whether two GPUs of a DGX-1 have a direct link: those of each group of 4, and i and i+4.
func quads(i, j int) bool { return i/4 == j/4 || i%4 == j%4 }

func TestPullsAndCopiesGiveTheSameBits(t *testing.T) {
	for _, m := range exchangeMatrices {
		if testing.Short() && m.name != "sparse" {
			continue
		}
		a := generated(t, m.spec)
		for _, k := range kinds {
			var want []float64
			for _, c := range []struct {
				name   string
				reads  func(i, j int) bool
				copies bool
			}{{"pull", nil, false}, {"some links", quads, false}, {"no links", func(int, int) bool { return false }, false}, {"copies", nil, true}} {
				sys, logs := loggedGPUs(t, 8, c.reads)
				plan := planOf[float64](t, sys, a, PlanOptions{Storage: Storage{Format: k.format}, copies: c.copies})
				vx, err := plan.ColumnVector()
				x := onDevices(t, vx, err, sines(a.Cols))
				vy, err := plan.RowVector()
				y := onDevices(t, vy, err, sines(a.Rows))
				if k.op == Trans {
					x, y = y, x
				}
				for range 2 {
					require.NoError(t, plan.Apply(t.Context(), k.op, 2, x, 0.5, y))
					require.NoError(t, x.Scale(0.5))
				}
				got := elements(t, y)
				if want == nil {
					want = got
				}
				require.Equal(t, want, got, "%s %v by %s", m.name, k, c.name)
				copied := 0
				for _, l := range logs {
					copied += l.copies
				}
				require.Equal(t, c.name != "pull", copied > 0, "%s %v by %s: %d copies", m.name, k, c.name, copied)
			}
		}
	}
}

func TestCopiesBeginWithTheNextDevice(t *testing.T) {
	for _, m := range exchangeMatrices {
		sys, logs := loggedGPUs(t, 4, nil)
		plan := planOf[float64](t, sys, sparse.Matrix[float64](generated(t, m.spec)), PlanOptions{copies: true})
		x, err := plan.ColumnVector()
		require.NoError(t, err)
		y, err := plan.RowVector()
		require.NoError(t, err)
		for _, l := range logs {
			l.copied = nil
		}
		require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, x, 0, y))
		for i, l := range logs { // carries follow the elements of x
			carriers := len(plan.route.(*resident[float64]).major[i].carriers)
			l.copied = l.copied[:len(l.copied)-carriers]
		}
		checkSources(t, sys, logs, m.name == "random")
	}
}

func TestVectorsHaveRoomInAPartOfTheMemoryOnly(t *testing.T) {
	const memory = 1 << 20
	a := generated(t, exchangeMatrices[0].spec) // each device needs almost all elements of x
	sys := newSystem()
	for i := range 4 {
		d, err := sim.Open(sim.Config{Index: i, Memory: memory})
		require.NoError(t, err)
		sys.devices().List = append(sys.devices().List, d)
	}
	plan := planOf[float64](t, sys, a, PlanOptions{})
	y, err := plan.RowVector()
	require.NoError(t, err)
	var vectors []*Vector[float64]
	var withRoom, without int
	for range 30 {
		v, err := plan.ColumnVector()
		require.NoError(t, err)
		if vectors = append(vectors, v); v.Bytes() > int64(8*a.Cols) {
			withRoom++
		} else {
			without++
		}
	}
	room := vectors[0].Bytes() - int64(8*a.Cols) // on 4 devices
	require.NotZero(t, without)
	require.LessOrEqual(t, int64(withRoom+1)*room, int64(4*memory/8), "and y has some")
	x := sines(a.Cols)
	want := reference.Multiply(false, 1, a, x, 0, make([]float64, a.Rows))
	for _, v := range []*Vector[float64]{vectors[0], vectors[29]} {
		onDevices(t, v, nil, x)
		require.NoError(t, plan.Apply(t.Context(), NoTrans, 1, v, 0, y))
		require.Equal(t, -1, reference.Check(elements(t, y), want))
	}
	require.NoError(t, vectors[0].Close()) // returns its room
	v, err := plan.ColumnVector()
	require.NoError(t, err)
	require.Equal(t, room, v.Bytes()-int64(8*a.Cols))
	require.NoError(t, sys.Close())
}
