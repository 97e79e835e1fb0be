package graph

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/msrep-go/msrep/internal/corpus"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/matio"
)

func TestSimulatedGPUsNeedTheSameIterations(t *testing.T) {
	t.Parallel()
	one, four := open(t, "cpu:1"), open(t, "sim:4")
	tiny, err := New(t.Context(), &sparse.CSR[float64]{Rows: 1, Cols: 1, RowPtr: []int64{0, 0}}, FormatCSR)
	require.NoError(t, err)
	r, err := newRanker(four, tiny, Options{Precision: FP64})
	require.NoError(t, err)
	require.IsType(t, &deviceRanker{}, r)
	require.NoError(t, r.close())
	for _, file := range []string{"gre_343.mtx.gz", "plskz362.mtx.gz"} { // all nodes have links; some have none
		m, err := matio.Read(context.Background(), corpus.Testdata(file))
		require.NoError(t, err)
		for _, format := range []Format{FormatCSR, FormatELL, FormatPELLR} {
			if format != FormatPELLR && file[0] == 'p' || testing.Short() && format == FormatELL {
				continue
			}
			g, err := New(context.Background(), m.CSR, format)
			require.NoError(t, err)
			for _, p := range []Precision{FP64, CPMS2, CPMS4} {
				if testing.Short() && p == CPMS2 {
					continue
				}
				for _, w := range []Weights{WeightsFolded, WeightsStored} {
					opt := Options{Precision: p, Weights: w, Tol: 1e-6}
					if p == CPMS4 && w == WeightsStored {
						opt.LeastBits = 16
					}
					want, err := g.PageRank(context.Background(), one, opt)
					require.NoError(t, err)
					got, err := g.PageRank(context.Background(), four, opt)
					require.NoError(t, err)
					require.Equal(t, want.BySegments, got.BySegments, "%s %s %s %s", file, p, format, w)
					require.Equal(t, want.Dangling, got.Dangling)
					require.Less(t, distance(want.Ranks, got.Ranks), 1e-12)
				}
			}
		}
		require.NoError(t, m.Close())
	}
}

// counted is a device that counts the bytes copied between host and device after Pack.
type counted struct {
	*sim.Device
	host atomic.Int64
}

func (d *counted) NewStream() (kernels.Stream, error) {
	s, err := d.Device.NewStream()
	return &countedStream{s, d}, err
}

type countedStream struct {
	kernels.Stream
	dev *counted
}

func (s *countedStream) Write(dst kernels.Buffer, off int64, src []byte) error {
	s.dev.host.Add(int64(len(src)))
	return s.Stream.Write(dst, off, src)
}

func (s *countedStream) Read(dst []byte, src kernels.Buffer, off int64) error {
	s.dev.host.Add(int64(len(dst)))
	return s.Stream.Read(dst, src, off)
}

func TestRanksStayOnTheDevices(t *testing.T) {
	m, err := matio.Read(context.Background(), corpus.Testdata("plskz362.mtx.gz"))
	require.NoError(t, err)
	defer m.Close()
	g, err := New(context.Background(), m.CSR, FormatCSR)
	require.NoError(t, err)
	for _, w := range []Weights{WeightsFolded, WeightsStored} {
		var devices []kernels.Device
		for i := range 3 {
			d, err := sim.Open(sim.Config{Index: i})
			require.NoError(t, err)
			devices = append(devices, &counted{Device: d})
		}
		opt := Options{Precision: CPMS2, Weights: w, Format: FormatCSR}
		require.NoError(t, opt.fill())
		r, err := newDeviceRanker(devices, g, opt)
		require.NoError(t, err)
		for _, d := range devices {
			d.(*counted).host.Store(0)
		}
		res := &Result{BySegments: map[int]int{}, Seconds: map[int]float64{}}
		require.NoError(t, res.iterate(context.Background(), r, g.nodes, opt))
		require.Greater(t, len(res.BySegments), 1, "the precision has changed")
		for _, d := range devices { // two numbers at a time: start, iterations, norm, division and joined weights
			require.LessOrEqual(t, d.(*counted).host.Load(), int64(16*(res.Iterations+4)))
		}
		require.NoError(t, r.close())
		for _, d := range devices {
			require.Zero(t, d.InUse())
			require.NoError(t, d.Close())
		}
	}
}

func TestADeviceThatFailsEndsPageRankAndAllMemoryIsFreed(t *testing.T) {
	a := &sparse.CSR[float64]{Rows: 3, Cols: 3, RowPtr: []int64{0, 1, 2, 2}, ColIdx: []int32{1, 2}, Val: []float64{1, 1}}
	g, err := New(context.Background(), a, FormatELL)
	require.NoError(t, err)
	opt := Options{Precision: CPMS4, Weights: WeightsStored, Format: FormatELL, Tol: 1e-12}
	require.NoError(t, opt.fill())
	broken := errors.New("broken")
	ended := false
	for n := 0; !ended; n += 1 + n/6 {
		require.Less(t, n, 10_000)
		left := n
		d, err := sim.Open(sim.Config{Fail: func(string) error {
			if left--; left == -1 {
				return broken
			}
			return nil
		}})
		require.NoError(t, err)
		r, err := newDeviceRanker([]kernels.Device{d}, g, opt)
		if err == nil {
			res := &Result{BySegments: map[int]int{}, Seconds: map[int]float64{}}
			if err = res.iterate(context.Background(), r, g.nodes, opt); err == nil {
				_, err = r.ranks()
			}
			require.NoError(t, r.close())
		}
		if ended = left >= 0; !ended {
			require.ErrorIs(t, err, broken, "call %d", n)
		}
		require.Zero(t, d.InUse(), "call %d", n)
		require.NoError(t, d.Close())
	}
}
