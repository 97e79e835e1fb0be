package devicetest

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/reference"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/partition"
	"github.com/msrep-go/msrep/sparse/cpms"
)

// keep returns values cut to the first read of their segments. With read = 0,
// values stay whole.
func keep(v []float64, read, segments int) []float64 {
	out := append([]float64(nil), v...)
	for i := range out {
		if read > 0 {
			out[i] = cpms.Keep(out[i], read*64/segments, cpms.Truncate)
		}
	}
	return out
}

// segmentVector copies a vector to a device, in segments or plain.
func segmentVector(t require.TestingT, m *memory, s kernels.Stream, d kernels.Device, v []float64, read, segments int) kernels.SegmentVector {
	words := append([]float64(nil), v...)
	if read > 0 {
		a, err := cpms.FromFloats(words, cpms.Layout{Segments: segments})
		require.NoError(t, err)
		require.Equal(t, len(v), a.Len())
	}
	return kernels.SegmentVector{Val: up(t, m, s, d, words), Of: segments, Read: read}
}

// floats reads a vector from the device.
func floats(t require.TestingT, s kernels.Stream, v kernels.SegmentVector) []float64 {
	words := Download(t, s, v.Val)
	if v.Read == 0 {
		return words
	}
	a, err := cpms.FromSegments(words, cpms.Layout{Segments: v.Of})
	require.NoError(t, err)
	out := make([]float64, a.Len())
	a.Read(out, 0, v.Read)
	return out
}

// SegmentProperty checks one random product of parts, with x and y in segments. The
// first read of the segments of each value are read. y is NaN if beta is 0.
func SegmentProperty(t *rapid.T, open Open, form kernels.Form, read, segments int) {
	q := &Problem[float64]{A: Draw[float64](t)}
	q.Alpha, q.Beta = rapid.SampledFrom([]float64{1, -2.5, 0}).Draw(t, "alpha"), rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(t, "beta")
	var err error
	q.Parts, _, err = partition.Split(q.A.RowPtr, rapid.IntRange(1, 6).Draw(t, "parts"), partition.RuleNNZ)
	require.NoError(t, err)
	q.X, q.Y = Vector[float64](q.A.Cols, 1), Vector[float64](q.A.Rows, 7)
	xread := rapid.IntRange(0, segments).Draw(t, "x")
	joined := read == segments && rapid.Bool().Draw(t, "joined")
	if joined {
		xread = 0
	}
	x, a := keep(q.X, xread, segments), *q.A
	if a.Val = keep(a.Val, read, segments); read == 0 {
		for k := range a.Val {
			a.Val[k] = 1
		}
	}
	want := reference.Multiply[float64](false, q.Alpha, &a, x, q.Beta, q.Y)
	if q.Beta == 0 {
		for i := range q.Y {
			q.Y[i] = math.NaN()
		}
	}
	y := append([]float64(nil), q.Y...)
	var carries []float64
	for _, p := range q.Parts {
		d, s := open(t)
		m := &memory{}
		packing := q.Packing(p, form)
		packing.Segments = kernels.Segments{Count: segments, Read: segments}
		if read == 0 {
			packing.Segments.Read, packing.Val = 0, nil
		}
		packed, err := d.(kernels.Packer).Pack(packing)
		require.NoError(t, err)
		if joined {
			require.NoError(t, s.Launch(&kernels.JoinSegments{A: packed}))
			require.NoError(t, s.Launch(&kernels.JoinSegments{A: packed}), "again does nothing")
		}
		carry := up(t, m, s, d, []float64{math.NaN()})
		own := kernels.SegmentVector{Val: up(t, m, s, d, q.Y[p.OwnFirst:p.OwnEnd])}
		require.NoError(t, s.Launch(&kernels.MajorProductSegments{
			A: packed, Read: read, Alpha: q.Alpha, Beta: q.Beta, X: segmentVector(t, m, s, d, q.X, xread, segments), Y: own, Carry: carry,
		}))
		copy(y[p.OwnFirst:p.OwnEnd], floats(t, s, own))
		carries = append(carries, Download(t, s, carry)[0])
		require.NoError(t, packed.Free())
		require.ErrorIs(t, s.Launch(&kernels.MajorProductSegments{A: packed, Read: read}), kernels.ErrClosed)
		m.free(t)
	}
	for i, p := range q.Parts {
		if p.StartFlag {
			y[p.StartMajor] += carries[i]
		}
	}
	require.Equal(t, -1, reference.Check(y, want))
}

// SegmentOps checks the other operations on vectors in segments against their formulas.
func SegmentOps(t require.TestingT, open Open) {
	p, cur := []float64{1, 2, 0.1, 4, 5}, []float64{0.3, 0.3, 0.3, 0.3, 0.3}
	for _, of := range []int{2, 4} {
		for read := 0; read <= of; read++ {
			d, s := open(t)
			m := &memory{}
			v := segmentVector(t, m, s, d, p, read, of)
			out := up(t, m, s, d, []float64{math.NaN()})
			kept := keep(p, read, of)

			require.NoError(t, s.Launch(&kernels.SumSegments{P: v, First: 1, Count: 3, Degree: up(t, m, s, d, []int32{1, 10, 100}), Sum: out}))
			require.InDelta(t, kept[1]+10*kept[2]+100*kept[3], Download(t, s, out)[0], 1e-12)
			require.NoError(t, s.Launch(&kernels.SumSegments{P: v, Node: up(t, m, s, d, []int32{4, 0}), Sum: out}))
			require.InDelta(t, kept[4]+kept[0], Download(t, s, out)[0], 1e-12)
			require.NoError(t, s.Launch(&kernels.SumSegments{P: v, Count: 0, Sum: out}))
			require.Zero(t, Download(t, s, out)[0])

			next := segmentVector(t, m, s, d, make([]float64, 5), read, of)
			require.NoError(t, s.Launch(&kernels.RankSegments{
				Sums: up(t, m, s, d, []float64{7, 8}), Cur: segmentVector(t, m, s, d, cur, 0, of), Next: next, First: 2, Degree: up(t, m, s, d, []int32{3, 5}), Add: 0.5, Diff: out,
			}))
			want := keep([]float64{0, 0, 7.5 / 3, 8.5 / 5, 0}, read, of)
			require.Equal(t, want, floats(t, s, next))
			require.InDelta(t, 3*math.Abs(want[2]-0.3)+5*math.Abs(want[3]-0.3), Download(t, s, out)[0], 1e-12)

			require.NoError(t, s.Launch(&kernels.DivideSegments{P: v, By: 3}))
			for i := range kept {
				kept[i] /= 3
			}
			require.Equal(t, keep(kept, read, of), floats(t, s, v))
			m.free(t)
		}
	}
}
