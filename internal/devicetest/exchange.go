package devicetest

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Exchange checks the operations that read memory of other devices. One of the devices, which it must read, executes them;
// its own memory is read as well. All results have the bits of plain loops, or of the same operations on copies.
func Exchange[V sparse.Value](t *rapid.T, devices []kernels.Device) {
	q := &exchange[V]{t: t, r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 9))}
	for _, d := range devices {
		q.ends = append(q.ends, newEndpoint(t, d))
	}
	q.at = rapid.IntRange(0, len(devices)-1).Draw(t, "executing device")
	q.pull()
	q.carries()
	q.partials()
	q.misfits()
	for _, b := range q.bufs {
		require.NoError(t, b.Free())
	}
	for _, e := range q.ends {
		e.close(t)
	}
}

// exchange holds the state of Exchange.
type exchange[V sparse.Value] struct {
	t    *rapid.T
	r    *rand.Rand
	ends []endpoint
	at   int // the device that executes
	bufs []kernels.Buffer
}

// place copies v to a device, a few elements into its buffer.
func place[T mem.Elem, V sparse.Value](q *exchange[V], on int, v []T) kernels.Array[T] {
	const before = 3
	a, err := kernels.NewArray[T](q.ends[on].d, int64(len(v)+before))
	require.NoError(q.t, err)
	q.bufs = append(q.bufs, a.Buf)
	a = a.Sub(before, a.Len)
	require.NoError(q.t, a.Write(q.ends[on].s, v))
	return a
}

// random returns n values, with zeros of both signs among them.
func (q *exchange[V]) random(n int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = V([]float64{q.r.NormFloat64(), q.r.NormFloat64(), 0, math.Copysign(0, -1)}[q.r.IntN(4)])
	}
	return v
}

// run launches an operation after the work of all devices, and makes all devices wait for it.
func (q *exchange[V]) run(op kernels.Operation) {
	e := q.ends[q.at]
	for _, o := range q.ends {
		require.NoError(q.t, o.s.Record(o.e))
		require.NoError(q.t, e.s.Wait(o.e))
	}
	require.NoError(q.t, e.s.Launch(op))
	require.NoError(q.t, e.s.Record(e.e))
	for _, o := range q.ends {
		require.NoError(q.t, o.s.Wait(e.e))
	}
}

// same compares the bits of an array on the executing device.
func (q *exchange[V]) same(want []V, a kernels.Array[V], what string) {
	got := Download(q.t, q.ends[q.at].s, a)
	for i := range want {
		if math.Float64bits(float64(want[i])) != math.Float64bits(float64(got[i])) {
			require.Equal(q.t, want[i], got[i], "%s: element %d of %d", what, i, len(want))
			require.Equal(q.t, math.Signbit(float64(want[i])), math.Signbit(float64(got[i])), "%s: sign of element %d", what, i)
		}
	}
}

// pull takes random elements of random sources, some of them empty.
func (q *exchange[V]) pull() {
	op := &kernels.Pull[V]{}
	lengths := []int{0, 1, 1, 5, 255, 1024, 1025, 3000}
	type taken struct {
		x   []V
		idx []int32
	}
	var all []taken
	var starts []int64
	first := int64(0)
	for range rapid.SampledFrom([]int{0, 1, 2, 3, 7, 8, 9, 17}).Draw(q.t, "sources") {
		from := taken{x: q.random(lengths[q.r.IntN(len(lengths))])}
		s := kernels.PullSource[V]{X: place(q, q.r.IntN(len(q.ends)), from.x), N: int64(len(from.x))}
		switch q.r.IntN(3) {
		case 0: // part of it
			s.N = int64(q.r.IntN(len(from.x) + 1))
			from.x = from.x[:s.N]
		case 1:
			if len(from.x) == 0 {
				break
			}
			from.idx = make([]int32, lengths[q.r.IntN(len(lengths))])
			for k := range from.idx {
				from.idx[k] = int32(q.r.IntN(len(from.x)))
			}
			s.Idx, s.N = place(q, q.at, from.idx), int64(len(from.idx))*int64(q.r.IntN(2))
		}
		first += int64(q.r.IntN(3)) // elements that no source writes
		s.First = first
		first += max(s.N, s.Idx.Len)
		op.Sources, all, starts = append(op.Sources, s), append(all, from), append(starts, s.First)
	}
	y := q.random(int(first) + q.r.IntN(3))
	op.Y = place(q, q.at, y)
	y = slices.Clone(y) // the device may still read the array that it copies
	q.run(op)
	for k, from := range all {
		to := y[starts[k]:]
		if from.idx == nil && op.Sources[k].Idx.Len == 0 {
			copy(to, from.x[:op.Sources[k].N])
		}
		for i, j := range from.idx {
			to[i] = from.x[j]
		}
	}
	q.same(y, op.Y, "pull")
}

// carries compares with kernels.AddCarries on copies of the carries.
func (q *exchange[V]) carries() {
	n := rapid.SampledFrom([]int{0, 1, 2, 5, 7, 8, 9, 16, 17, 40}).Draw(q.t, "carries")
	rows := rapid.SampledFrom([]int{1, 2, 30}).Draw(q.t, "rows")
	row := make([]int32, n)
	for k := range row {
		row[k] = int32(q.r.IntN(rows + 1)) // the last one is past the end
	}
	slices.Sort(row)
	val, y := q.random(n), q.random(rows)
	op := &kernels.PullCarries[V]{Row: place(q, q.at, row), Y: place(q, q.at, y)}
	for k := range val {
		op.Carry = append(op.Carry, place(q, q.r.IntN(len(q.ends)), val[k:k+1]))
	}
	q.run(op)
	want := place(q, q.at, y)
	q.run(&kernels.AddCarries[V]{Row: op.Row, Val: place(q, q.at, val), Y: want})
	q.same(Download(q.t, q.ends[q.at].s, want), op.Y, "carries")
}

// partials compares with kernels.SumPartials on copies of the vectors.
func (q *exchange[V]) partials() {
	n, beta := rapid.SampledFrom([]int{0, 1, 300}).Draw(q.t, "elements"), V(q.r.IntN(3))/2
	y := q.random(n)
	far, near := &kernels.SumPartials[V]{Beta: beta, Y: place(q, q.at, y)}, &kernels.SumPartials[V]{Beta: beta, Y: place(q, q.at, y)}
	for range rapid.SampledFrom([]int{0, 1, 3, 8, 11}).Draw(q.t, "partials") {
		p := q.random(n)
		far.P, near.P = append(far.P, place(q, q.r.IntN(len(q.ends)), p)), append(near.P, place(q, q.at, p))
	}
	q.run(far)
	q.run(near)
	q.same(Download(q.t, q.ends[q.at].s, near.Y), far.Y, "partials")
}

// misfits checks that operations whose arrays do not fit, or lie on another device where they must not, are refused.
func (q *exchange[V]) misfits() {
	other := (q.at + 1) % len(q.ends)
	ten, far := place(q, q.at, q.random(10)), place(q, other, q.random(10))
	idx, farIdx := place(q, q.at, make([]int32, 4)), place(q, other, make([]int32, 4))
	one := []kernels.Array[V]{far.Sub(0, 1)}
	wrong := []kernels.Operation{
		&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, N: 11}}, Y: ten},
		&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, N: 5, First: 6}}, Y: ten},
		&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, N: 5, First: -1}}, Y: ten},
		&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, N: -1}}, Y: ten},
		&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, Idx: idx, N: 3}}, Y: ten},
		&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, Idx: idx, First: 7}}, Y: ten},
		&kernels.PullCarries[V]{Row: idx, Carry: one, Y: ten},
		&kernels.PullCarries[V]{Row: idx.Sub(0, 1), Carry: []kernels.Array[V]{far}, Y: ten},
		&kernels.SumPartials[V]{P: []kernels.Array[V]{far.Sub(1, 10)}, Y: ten},
	}
	if other != q.at {
		wrong = append(wrong,
			&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: ten, N: 5}}, Y: far},
			&kernels.Pull[V]{Sources: []kernels.PullSource[V]{{X: far, Idx: farIdx}}, Y: ten},
			&kernels.PullCarries[V]{Row: farIdx.Sub(0, 1), Carry: one, Y: ten},
			&kernels.PullCarries[V]{Row: idx.Sub(0, 1), Carry: one, Y: far},
			&kernels.SumPartials[V]{P: []kernels.Array[V]{ten}, Y: far},
			&kernels.Axpby[V]{Alpha: 1, X: far, Y: ten},
		)
	}
	for _, op := range wrong {
		require.ErrorIs(q.t, q.ends[q.at].s.Launch(op), kernels.ErrArgument, "%+v", op)
	}
}
