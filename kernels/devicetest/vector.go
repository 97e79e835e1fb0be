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

// vectorLengths reach across warps, blocks of GPUs and blocks of sums of CPUs.
var vectorLengths = []int{0, 1, 2, 3, 31, 33, 255, 256, 257, 1000, 8191, 8193, 20000}

// VectorOps checks all operations on vectors of a device against their formulas, on
// random vectors that begin anywhere in their buffers.
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
	for _, f := range []func(){q.plain, q.takes, q.carries, q.partials, q.projects, q.combines, q.misfit, q.step, q.turn, q.finish} {
		f()
	}
}

// vectorProblem is vectors of n elements on a device.
type vectorProblem[V sparse.Value] struct {
	t    *rapid.T
	d    kernels.Device
	s    kernels.Stream
	n    int
	r    *rand.Rand
	bufs []kernels.Buffer
}

// vector makes a random vector, a few elements into its buffer.
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

// run launches an operation and gives the sums that it leaves.
func (q *vectorProblem[V]) run(op kernels.Op, sums kernels.Array[float64]) []float64 {
	require.NoError(q.t, q.s.Launch(op))
	if sums.Buf == nil {
		require.NoError(q.t, q.s.Sync())
		return nil
	}
	return Download(q.t, q.s, sums)
}

func (q *vectorProblem[V]) sums(k int) kernels.Array[float64] { return put(q, make([]float64, k)) }

// same compares a vector on the device with what the formula gives, to a few roundings.
func (q *vectorProblem[V]) same(want []V, a kernels.Array[V], what string) {
	got := Download(q.t, q.s, a)
	for i := range want {
		if d := math.Abs(float64(want[i] - got[i])); !(d <= 32*eps[V]()) {
			require.Equal(q.t, want[i], got[i], "%s, element %d of %d", what, i, q.n)
		}
	}
}

// near compares a sum with one whose terms have sizes of about 1, which were added in
// another order.
func (q *vectorProblem[V]) near(want, got float64, what string) {
	n := float64(q.n+1) + math.Abs(want)
	require.InDelta(q.t, want, got, 8*eps[V]()*n+0x1p-52*n*math.Sqrt(n), "%s of %d elements", what, q.n)
}

// eps is what a number near 1 is rounded to; numbers here are below 16.
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
	if beta == 0 && q.n > 0 { // what is not read may be anything
		y[q.n/2] /= 0
		require.NoError(q.t, ay.Write(q.s, y))
	}
	r, ar := q.vector()
	z, az := q.vector()
	q.run(&kernels.Multiply[V]{D: ax, R: ar, Z: az}, none)
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
	q.same(y, ay, "carries")
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

func (q *vectorProblem[V]) projects() {
	w, aw := q.vector()
	k := rapid.IntRange(1, 9).Draw(q.t, "k")
	want, as := make([]float64, k), make([]kernels.Array[V], k)
	for j := range k {
		v := w
		if as[j] = aw; j != 1 { // the second is w itself
			v, as[j] = q.vector()
		}
		for i := range v {
			want[j] += float64(v[i]) * float64(w[i])
		}
	}
	sums := q.sums(k)
	for j, got := range q.run(&kernels.Project[V]{V: as, W: aw, Sums: sums}, sums) {
		q.near(want[j], got, "project")
	}
}

func (q *vectorProblem[V]) combines() {
	w, aw := q.vector()
	k := rapid.IntRange(1, 9).Draw(q.t, "terms")
	h, as := make([]V, k), make([]kernels.Array[V], k)
	for j := range k {
		var v []V
		v, as[j] = q.vector()
		h[j] = V(q.r.Float64() / 8)
		for i := range v {
			w[i] += h[j] * v[i]
		}
	}
	sums := q.sums(rapid.IntRange(0, 1).Draw(q.t, "sums"))
	got := q.run(&kernels.Combine[V]{H: h, V: as, W: aw, Sums: sums}, sums)
	q.same(w, aw, "combine")
	for _, ww := range got {
		q.near(square(w, w), ww, "combine")
	}
}

func square[V sparse.Value](x, y []V) (sum float64) {
	for i := range x {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

func (q *vectorProblem[V]) misfit() {
	x, ax := q.vector()
	y, ay := q.vector()
	d := make([]V, q.n)
	for i := range x {
		d[i] = y[i] - 0.5*x[i]
	}
	sums := q.sums(1)
	got := q.run(&kernels.Misfit[V]{A: 0.5, X: ax, Y: ay, Sums: sums}, sums)
	q.near(square(d, d), got[0], "misfit")
}

func (q *vectorProblem[V]) step() {
	p, ap := q.vector()
	u, au := q.vector()
	x, ax := q.vector()
	r, ar := q.vector()
	sums := q.sums(1)
	got := q.run(&kernels.Step[V]{A: 0.75, P: ap, Q: au, X: ax, R: ar, Sums: sums}, sums)
	for i := range p {
		x[i] += 0.75 * p[i]
		r[i] -= 0.75 * u[i]
	}
	q.same(x, ax, "step, x")
	q.same(r, ar, "step, r")
	q.near(square(r, r), got[0], "step")
}

func (q *vectorProblem[V]) turn() {
	r, ar := q.vector()
	v, av := q.vector()
	p, ap := q.vector()
	q.run(&kernels.Turn[V]{B: 0.5, W: -0.75, R: ar, V: av, P: ap}, kernels.Array[float64]{})
	for i := range p {
		p[i] = r[i] + 0.5*(p[i]+0.75*v[i])
	}
	q.same(p, ap, "turn")
}

func (q *vectorProblem[V]) finish() {
	p, ap := q.vector()
	u, au := q.vector()
	x, ax := q.vector()
	r, ar := q.vector()
	c, ac := q.vector()
	s, as := r, ar
	if rapid.Bool().Draw(q.t, "preconditioned") {
		s, as = q.vector()
	}
	sums := q.sums(2)
	got := q.run(&kernels.Finish[V]{A: 0.75, W: -0.5, P: ap, S: as, T: au, C: ac, X: ax, R: ar, Sums: sums}, sums)
	for i := range p {
		x[i] += 0.75*p[i] - 0.5*s[i]
		r[i] += 0.5 * u[i]
	}
	q.same(x, ax, "finish, x")
	q.same(r, ar, "finish, r")
	q.near(square(r, r), got[0], "finish")
	q.near(square(c, r), got[1], "finish")
}
