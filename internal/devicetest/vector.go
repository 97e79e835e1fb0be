package devicetest

import (
	"math"
	"math/rand/v2"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// vectorLengths include lengths around the sizes of warps, of GPU blocks and of the
// chunks that CPUs sum.
var vectorLengths = []int{0, 1, 2, 3, 31, 33, 255, 256, 257, 1000, 8191, 8193, 20000}

// VectorOps checks all vector operations of a device against their formulas, on random
// vectors at any offset in their buffers.
func VectorOps[V sparse.Value](t *rapid.T, d kernels.Device) {
	s, err := d.NewStream()
	require.NoError(t, err)
	q := &vectorProblem[V]{
		t: t, d: d, s: s, n: rapid.SampledFrom(vectorLengths).Draw(t, "n"),
		r: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5)),
	}
	defer func() {
		for _, b := range q.bufs {
			require.NoError(t, b.Free())
		}
		require.NoError(t, s.Close())
	}()
	for _, f := range []func(){q.plain, q.pointers, q.cooPointers, q.takes, q.carries, q.partials, q.projects, q.combines, q.misfit, q.step, q.turn, q.finish, q.minres, q.lsmr, q.chebyshev} {
		f()
	}
}

// vectorProblem holds vectors of n elements on a device.
type vectorProblem[V sparse.Value] struct {
	t    *rapid.T
	d    kernels.Device
	s    kernels.Stream
	n    int
	r    *rand.Rand
	bufs []kernels.Buffer
}

// vector creates a random vector, a few elements into its buffer.
func (q *vectorProblem[V]) vector() ([]V, kernels.Array[V]) {
	v := make([]V, q.n)
	for i := range v {
		v[i] = V(q.r.NormFloat64())
	}
	return v, put(q, v)
}

func put[T mem.Elem, V sparse.Value](q *vectorProblem[V], v []T) kernels.Array[T] {
	const before = 3
	a, err := kernels.NewArray[T](q.d, int64(len(v)+before))
	require.NoError(q.t, err)
	q.bufs = append(q.bufs, a.Buf)
	a = a.Sub(before, a.Len)
	require.NoError(q.t, a.Write(q.s, v))
	require.NoError(q.t, q.s.Sync())
	return a
}

// run launches an operation and returns its sums.
func (q *vectorProblem[V]) run(op kernels.Operation, sums kernels.Array[float64]) []float64 {
	require.NoError(q.t, q.s.Launch(op))
	if sums.Buf == nil {
		require.NoError(q.t, q.s.Sync())
		return nil
	}
	return Download(q.t, q.s, sums)
}

func (q *vectorProblem[V]) sums(k int) kernels.Array[float64] { return put(q, make([]float64, k)) }

// same compares a vector on the device with the result of the formula, to a few
// roundings.
func (q *vectorProblem[V]) same(want []V, a kernels.Array[V], what string) {
	q.sameSums(want, a, 0, what)
}

// sameSums is same for elements that are sums of up to terms terms, in any order.
// Numbers are below 16, and each addition may round by half a unit in the last place.
func (q *vectorProblem[V]) sameSums(want []V, a kernels.Array[V], terms int, what string) {
	got := Download(q.t, q.s, a)
	for i := range want {
		if d := math.Abs(float64(want[i] - got[i])); !(d <= float64(32+4*terms)*eps[V]()) {
			require.Equal(q.t, want[i], got[i], "%s, element %d of %d", what, i, q.n)
		}
	}
}

// near compares two sums of terms of about 1 that were added in different orders.
func (q *vectorProblem[V]) near(want, got float64, what string) {
	n := float64(q.n+1) + math.Abs(want)
	require.InDelta(q.t, want, got, 8*eps[V]()*n+0x1p-52*n*math.Sqrt(n), "%s of %d elements", what, q.n)
}

// eps is the unit in the last place of numbers near 1; the numbers here are below 16.
func eps[V sparse.Value]() float64 {
	if mem.Size[V]() == 4 {
		return 0x1p-23
	}
	return 0x1p-52
}

func (q *vectorProblem[V]) plain() {
	none := kernels.Array[float64]{}
	alpha := V(rapid.SampledFrom([]float64{0, 1, -1.25}).Draw(q.t, "alpha"))
	beta := V(rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(q.t, "beta"))
	x, ax := q.vector()
	y, ay := q.vector()
	if beta == 0 && q.n > 0 { // elements that are not read may have any value
		y[q.n/2] /= 0
		require.NoError(q.t, ay.Write(q.s, y))
	}
	r, ar := q.vector()
	z, az := q.vector()
	q.compute(kernels.Multiply, none, nil, ax, ar, az)
	for i := range z {
		z[i] = r[i] * x[i]
	}
	q.same(z, az, "multiply")
	q.run(&kernels.Axpby[V]{Alpha: alpha, X: ax, Beta: beta, Y: ay}, none)
	for i := range y {
		if y[i] *= beta; beta == 0 {
			y[i] = 0
		}
		y[i] += alpha * x[i]
	}
	q.same(y, ay, "axpby")
	q.run(&kernels.Scale[V]{Beta: beta, Y: ay}, none)
	for i := range y {
		y[i] *= beta
	}
	q.same(y, ay, "scale")
	q.run(&kernels.Fill[V]{Value: alpha, Y: ay}, none)
	for i := range y {
		y[i] = alpha
	}
	q.same(y, ay, "fill")
}

func (q *vectorProblem[V]) pointers() {
	src, want := make([]int64, q.n), make([]int64, q.n)
	start, length := q.r.Int64N(1<<34), q.r.Int64N(1<<34)
	for j := range src {
		src[j] = q.r.Int64N(1 << 35)
		want[j] = min(max(src[j], start), start+length) - start
	}
	dst := put(q, make([]int64, q.n))
	op := &kernels.LocalPtr{Src: put(q, src), Dst: dst, Start: start, End: start + length}
	q.run(op, kernels.Array[float64]{})
	require.Equal(q.t, want, Download(q.t, q.s, dst), "pointers")
	longer, after, same := *op, *op, *op
	longer.Src.Len++
	after.Start = after.End + 1
	same.Dst = same.Src
	for _, wrong := range []*kernels.LocalPtr{&longer, &after, &same} {
		if q.n > 0 || wrong != &same {
			require.ErrorIs(q.t, q.s.Launch(wrong), kernels.ErrArgument)
		}
	}
}

func (q *vectorProblem[V]) cooPointers() {
	const first = 1 << 30
	majors := rapid.SampledFrom(vectorLengths).Draw(q.t, "majors")
	major, want := make([]int32, 0, q.n), make([]int64, majors+1)
	for j := range majors { // most are empty, and one may have all remaining entries
		if q.r.IntN(4) == 0 {
			for range q.r.IntN(q.n - len(major) + 1) {
				major = append(major, first+int32(j))
			}
		}
		want[j+1] = int64(len(major))
	}
	ptr := put(q, make([]int64, len(want)))
	op := &kernels.COOPtr{Major: put(q, major), Ptr: ptr, First: first}
	q.run(op, kernels.Array[float64]{})
	require.Equal(q.t, want, Download(q.t, q.s, ptr), "pointers of majors")
	none, before := *op, *op
	none.Ptr.Len = 0
	before.First = -1
	for _, wrong := range []*kernels.COOPtr{&none, &before} {
		require.ErrorIs(q.t, q.s.Launch(wrong), kernels.ErrArgument)
	}
}

func (q *vectorProblem[V]) takes() {
	if q.n == 0 {
		return
	}
	x, ax := q.vector()
	count := rapid.SampledFrom([]int{0, 1, 7, 300}).Draw(q.t, "taken")
	idx, y := make([]int64, count), make([]V, count)
	for k := range idx {
		idx[k] = q.r.Int64N(int64(q.n))
		y[k] = x[idx[k]]
	}
	ay := put(q, make([]V, count))
	q.run(&kernels.Take[V]{Idx: put(q, idx), X: ax, Y: ay}, kernels.Array[float64]{})
	q.same(y, ay, "take")
}

func (q *vectorProblem[V]) carries() {
	if q.n == 0 {
		return
	}
	y, ay := q.vector()
	count := rapid.SampledFrom([]int{0, 1, 7, 300}).Draw(q.t, "carries")
	row, val := make([]int32, count), make([]V, count)
	for k := range row {
		row[k], val[k] = int32(k*(q.n-1)/max(count-1, 1)), V(q.r.Float64()/64)
		y[row[k]] += val[k]
	}
	q.run(&kernels.AddCarries[V]{Row: put(q, row), Val: put(q, val), Y: ay}, kernels.Array[float64]{})
	q.sameSums(y, ay, count, "carries")
}

func (q *vectorProblem[V]) partials() {
	beta := V(rapid.SampledFrom([]float64{0, 1, 0.75}).Draw(q.t, "beta"))
	y, ay := q.vector()
	if beta == 0 && q.n > 0 {
		y[q.n/2] /= 0
		require.NoError(q.t, ay.Write(q.s, y))
		require.NoError(q.t, q.s.Sync()) // y changes below
	}
	for i := range y {
		if y[i] *= beta; beta == 0 {
			y[i] = 0
		}
	}
	var ps []kernels.Array[V]
	for range rapid.SampledFrom([]int{0, 1, 2, 3, 5, 8, 9, 17}).Draw(q.t, "partials") {
		v := make([]V, q.n)
		for i := range v {
			v[i] = V(q.r.NormFloat64() / 16)
			y[i] += v[i]
		}
		ps = append(ps, put(q, v))
	}
	q.run(&kernels.SumPartials[V]{P: ps, Beta: beta, Y: ay}, kernels.Array[float64]{})
	q.same(y, ay, "partials")
}
