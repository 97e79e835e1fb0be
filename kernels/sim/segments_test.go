package sim_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/kernels/devicetest"
	"github.com/msrep-go/msrep/kernels/ptx"
	"github.com/msrep-go/msrep/kernels/reference"
	"github.com/msrep-go/msrep/kernels/sim"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// keep is values of which so many of the segments are left; all of plain ones.
func keep(v []float64, read, segments int) []float64 {
	out := append([]float64(nil), v...)
	for i := range out {
		if read > 0 {
			out[i] = cpms.Keep(out[i], read*64/segments, cpms.Truncate)
		}
	}
	return out
}

// segmentVector brings a vector to a device, in segments or plain.
func segmentVector(t require.TestingT, s kernels.Stream, d kernels.Device, v []float64, read, segments int) kernels.SegmentVector {
	words := append([]float64(nil), v...)
	if read > 0 {
		a, err := cpms.FromFloats(words, cpms.Layout{Segments: segments})
		require.NoError(t, err)
		require.Equal(t, len(v), a.Len())
	}
	return kernels.SegmentVector{Val: upload(t, s, d, words), Of: segments, Read: read}
}

// floats is what the device has of a vector.
func floats(t require.TestingT, s kernels.Stream, v kernels.SegmentVector) []float64 {
	words := download(t, s, v.Val)
	if v.Read == 0 {
		return words
	}
	a, err := cpms.FromSegments(words, cpms.Layout{Segments: v.Of})
	require.NoError(t, err)
	out := make([]float64, a.Len())
	a.Read(out, 0, v.Read)
	return out
}

func TestPartsInSegmentsMultiplyVectorsInSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &devicetest.Problem[float64]{A: devicetest.Draw[float64](t)}
		q.Alpha, q.Beta = rapid.SampledFrom([]float64{1, -2.5, 0}).Draw(t, "alpha"), rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(t, "beta")
		var err error
		q.Parts, _, err = partition.Split(q.A.RowPtr, rapid.IntRange(1, 6).Draw(t, "parts"), partition.RuleNNZ)
		require.NoError(t, err)
		q.X, q.Y = devicetest.Vector[float64](q.A.Cols, 1), devicetest.Vector[float64](q.A.Rows, 7)
		segments := rapid.SampledFrom([]int{2, 4}).Draw(t, "segments")
		xread, read := rapid.IntRange(0, segments).Draw(t, "x"), rapid.IntRange(0, segments).Draw(t, "values")
		joined := read == segments && xread == 0 && rapid.Bool().Draw(t, "joined")
		form := rapid.SampledFrom([]kernels.Form{"csr", "ell", "pellr"}).Draw(t, "form")
		x, m := keep(q.X, xread, segments), *q.A
		if m.Val = keep(m.Val, read, segments); read == 0 {
			for k := range m.Val {
				m.Val[k] = 1
			}
		}
		want := reference.Multiply[float64](false, q.Alpha, &m, x, q.Beta, q.Y)
		if q.Beta == 0 {
			for i := range q.Y {
				q.Y[i] = math.NaN()
			}
		}
		y := append([]float64(nil), q.Y...)
		var carries []float64
		for _, p := range q.Parts {
			d, s := open(t, sim.Config{})
			packing := q.Packing(p, form)
			packing.Precision = kernels.Precision{Segments: segments, Read: segments}
			if read == 0 {
				packing.Precision.Read, packing.Val = 0, nil
			}
			packed, err := d.Pack(packing)
			require.NoError(t, err)
			if joined {
				require.NoError(t, s.Launch(&kernels.JoinSegments{A: packed}))
				require.NoError(t, s.Launch(&kernels.JoinSegments{A: packed}), "again does nothing")
			}
			carry := upload(t, s, d, []float64{math.NaN()})
			own := kernels.SegmentVector{Val: upload(t, s, d, q.Y[p.OwnFirst:p.OwnEnd])}
			require.NoError(t, s.Launch(&kernels.GatherSegments{
				A: packed, Read: read, Alpha: q.Alpha, Beta: q.Beta, X: segmentVector(t, s, d, q.X, xread, segments), Y: own, Carry: carry,
			}))
			copy(y[p.OwnFirst:p.OwnEnd], floats(t, s, own))
			carries = append(carries, download(t, s, carry)[0])
			require.NoError(t, packed.Free())
			require.ErrorIs(t, s.Launch(&kernels.GatherSegments{A: packed, Read: read}), kernels.ErrClosed)
		}
		for i, p := range q.Parts {
			if p.StartFlag {
				y[p.StartMajor] += carries[i]
			}
		}
		require.Equal(t, -1, reference.Check(y, want))
	})
}

func TestOperationsOnSegmentsFollowTheirFormulas(t *testing.T) {
	p, cur := []float64{1, 2, 0.1, 4, 5}, []float64{0.3, 0.3, 0.3, 0.3, 0.3}
	for _, of := range []int{2, 4} {
		for read := 0; read <= of; read++ {
			d, s := open(t, sim.Config{})
			v := segmentVector(t, s, d, p, read, of)
			out := upload(t, s, d, []float64{math.NaN()})
			kept := keep(p, read, of)

			require.NoError(t, s.Launch(&kernels.SumSegments{P: v, First: 1, Count: 3, Degree: upload(t, s, d, []int32{1, 10, 100}), Sum: out}))
			require.InDelta(t, kept[1]+10*kept[2]+100*kept[3], download(t, s, out)[0], 1e-12)
			require.NoError(t, s.Launch(&kernels.SumSegments{P: v, Node: upload(t, s, d, []int32{4, 0}), Sum: out}))
			require.InDelta(t, kept[4]+kept[0], download(t, s, out)[0], 1e-12)
			require.NoError(t, s.Launch(&kernels.SumSegments{P: v, Count: 0, Sum: out}))
			require.Zero(t, download(t, s, out)[0])

			next := segmentVector(t, s, d, make([]float64, 5), read, of)
			require.NoError(t, s.Launch(&kernels.RankSegments{
				Sums: upload(t, s, d, []float64{7, 8}), Cur: segmentVector(t, s, d, cur, 0, of), Next: next, First: 2, Degree: upload(t, s, d, []int32{3, 5}), Add: 0.5, Diff: out,
			}))
			want := keep([]float64{0, 0, 7.5 / 3, 8.5 / 5, 0}, read, of)
			require.Equal(t, want, floats(t, s, next))
			require.InDelta(t, 3*math.Abs(want[2]-0.3)+5*math.Abs(want[3]-0.3), download(t, s, out)[0], 1e-12)

			require.NoError(t, s.Launch(&kernels.DivideSegments{P: v, By: 3}))
			for i := range kept {
				kept[i] /= 3
			}
			require.Equal(t, keep(kept, read, of), floats(t, s, v))
		}
	}
}

func TestSumsAreWholeWhereADeviceTakesFewerBlocks(t *testing.T) {
	blocks := int64(0)
	d, s := open(t, sim.Config{Blocks: 1, Trace: func(_ string, c ptx.Counters) { blocks = max(blocks, c.Blocks) }})
	out := upload(t, s, d, []float64{math.NaN()})
	v := kernels.SegmentVector{Val: upload(t, s, d, slices.Repeat([]float64{0.5}, 1000))}
	require.NoError(t, s.Launch(&kernels.SumSegments{P: v, Count: 1000, Sum: out}))
	require.Equal(t, 500.0, download(t, s, out)[0])
	require.Equal(t, int64(1), blocks)
}

func TestOperationsOnSegmentsRefuseWhatDoesNotFit(t *testing.T) {
	d, s := open(t, sim.Config{})
	v := upload(t, s, d, make([]float64, 4))
	one := upload(t, s, d, make([]float64, 1))
	whole := kernels.SegmentVector{Val: v, Of: 2, Read: 1}
	a := &sparse.CSR[float64]{Rows: 4, Cols: 4, RowPtr: make([]int64, 5)}
	parts, _, err := partition.Split(a.RowPtr, 1, partition.RuleNNZ)
	require.NoError(t, err)
	packing := (&devicetest.Problem[float64]{A: a}).Packing(parts[0], "csr")
	plain, err := d.Pack(packing)
	require.NoError(t, err)
	packing.Precision = kernels.Precision{Segments: 2}
	ones, err := d.Pack(packing)
	require.NoError(t, err)
	for _, op := range []kernels.Op{
		&kernels.GatherSegments{A: plain, X: whole, Y: whole},
		&kernels.GatherSegments{A: ones, Read: 1, X: whole, Y: whole},
		&kernels.GatherSegments{A: ones, X: kernels.SegmentVector{Val: v, Of: 4, Read: 1}, Y: whole},
		&kernels.GatherSegments{A: ones, X: kernels.SegmentVector{Val: one}, Y: whole},
		&kernels.JoinSegments{A: ones}, &kernels.JoinSegments{A: plain},
		&kernels.RankSegments{Sums: v, Cur: whole, Next: whole, First: 1, Diff: one},
		&kernels.RankSegments{Sums: v, Cur: whole, Next: whole, Diff: v},
		&kernels.SumSegments{P: whole, First: 3, Count: 2, Sum: one},
		&kernels.SumSegments{P: kernels.SegmentVector{Val: v, Of: 2, Read: 3}, Count: 4, Sum: one},
		&kernels.DivideSegments{P: kernels.SegmentVector{Val: v, Of: 0, Read: 1}, By: 1},
	} {
		require.ErrorIs(t, s.Launch(op), kernels.ErrArgument, "%T", op)
	}
	for _, p := range []kernels.Precision{{Segments: 3, Read: 1}, {Segments: 2, Read: 3}, {Segments: 2, Read: -1}} {
		packing.Precision = p
		_, err := d.Pack(packing)
		require.True(t, sparse.IsInput(err), "%+v: %v", p, err)
	}
}
