package devicetest

import (
	"math"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

func (q *vectorProblem[V]) projects() {
	w, aw := q.vector()
	k := rapid.IntRange(1, 9).Draw(q.t, "k")
	want, as := make([]float64, k), make([]kernels.Array[V], k)
	for j := range k {
		v := w
		if as[j] = aw; j != 1 { // vector 1 is w itself
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

// compute launches a formula and returns its sums. In half of the cases the numbers are in memory of the device. It also
// checks that a call with one vector less fails, and one with numbers of both kinds.
func (q *vectorProblem[V]) compute(f *kernels.Formula, sums kernels.Array[float64], numbers []V, v ...kernels.Array[V]) []float64 {
	few := &kernels.Elementwise[V]{Formula: f, Numbers: numbers, Vectors: v[1:], Sums: sums}
	require.ErrorIs(q.t, q.s.Launch(few), kernels.ErrArgument, f.Name)
	op := &kernels.Elementwise[V]{Formula: f, Numbers: numbers, Vectors: v, Sums: sums}
	if len(numbers) > 0 && rapid.Bool().Draw(q.t, "numbers on the device") {
		at := make([]float64, len(numbers))
		for k, a := range numbers {
			at[k] = float64(a)
		}
		op.At = put(q, at)
		require.ErrorIs(q.t, q.s.Launch(op), kernels.ErrArgument, f.Name)
		op.Numbers = nil
	}
	return q.run(op, sums)
}

func (q *vectorProblem[V]) misfit() {
	x, ax := q.vector()
	y, ay := q.vector()
	d := make([]V, q.n)
	for i := range x {
		d[i] = y[i] - 0.5*x[i]
	}
	sums := q.sums(1)
	got := q.compute(kernels.Misfit, sums, []V{0.5}, ay, ax)
	q.near(square(d, d), got[0], "misfit")
}

func (q *vectorProblem[V]) step() {
	p, ap := q.vector()
	u, au := q.vector()
	x, ax := q.vector()
	r, ar := q.vector()
	sums := q.sums(1)
	got := q.compute(kernels.CGStep, sums, []V{0.75}, ap, au, ax, ar)
	for i := range p {
		x[i] += 0.75 * p[i]
		r[i] -= 0.75 * u[i]
	}
	q.same(x, ax, "step, x")
	q.same(r, ar, "step, r")
	q.near(square(r, r), got[0], "cg-step")

	if q.n > 0 { // a = 0 changes nothing, whatever the other vectors hold
		p[q.n/2], u[q.n/2] = V(math.NaN()), V(math.Inf(1))
		require.NoError(q.t, ap.Write(q.s, p))
		require.NoError(q.t, au.Write(q.s, u))
	}
	got = q.compute(kernels.CGStep, sums, []V{0}, ap, au, ax, ar)
	q.same(x, ax, "step by 0, x")
	q.same(r, ar, "step by 0, r")
	q.near(square(r, r), got[0], "cg-step by 0")
	q.compute(kernels.CGDirection, kernels.Array[float64]{}, []V{0}, ar, ap)
	q.same(r, ap, "cg-direction by 0")
	q.compute(kernels.CGDirection, kernels.Array[float64]{}, []V{-0.5}, ax, ap)
	for i := range r {
		r[i] = x[i] - 0.5*r[i]
	}
	q.same(r, ap, "cg-direction")
}

func (q *vectorProblem[V]) turn() {
	r, ar := q.vector()
	v, av := q.vector()
	p, ap := q.vector()
	q.compute(kernels.BiCGSTABDirection, kernels.Array[float64]{}, []V{0.5, -0.75}, ar, av, ap)
	for i := range p {
		p[i] = r[i] + 0.5*(p[i]+0.75*v[i])
	}
	q.same(p, ap, "bicgstab-direction")
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
	got := q.compute(kernels.BiCGSTABStep, sums, []V{0.75, -0.5}, ap, as, au, ac, ax, ar)
	for i := range p {
		x[i] += 0.75*p[i] - 0.5*s[i]
		r[i] += 0.5 * u[i]
	}
	q.same(x, ax, "finish, x")
	q.same(r, ar, "finish, r")
	q.near(square(r, r), got[0], "bicgstab-step")
	q.near(square(c, r), got[1], "bicgstab-step")
}

func (q *vectorProblem[V]) minres() {
	z, az := q.vector()
	u, au := q.vector()
	w, aw := q.vector()
	x, ax := q.vector()
	q.compute(kernels.MINRESStep, kernels.Array[float64]{}, []V{0.5, -0.75, 0.25, 0.125}, az, au, aw, ax)
	for i := range z {
		x[i] += 0.125 * u[i]
		w[i] = 0.5*z[i] - 0.75*u[i] + 0.25*w[i]
	}
	q.same(x, ax, "minres-step, x")
	q.same(w, aw, "minres-step, w")
}

func (q *vectorProblem[V]) lsmr() {
	v, av := q.vector()
	w, aw := q.vector()
	x, ax := q.vector()
	h, ah := q.vector()
	q.compute(kernels.LSMRStep, kernels.Array[float64]{}, []V{0.5, -0.75, 0.25, 0.125}, av, aw, ax, ah)
	for i := range v {
		w[i] = h[i] - 0.5*w[i]
		x[i] -= 0.75 * w[i]
		h[i] = 0.25*v[i] - 0.125*h[i]
	}
	q.same(w, aw, "lsmr-step, w")
	q.same(x, ax, "lsmr-step, x")
	q.same(h, ah, "lsmr-step, h")
}

func (q *vectorProblem[V]) chebyshev() {
	m, am := q.vector()
	b, ab := q.vector()
	d, ad := q.vector()
	x, ax := q.vector()
	r, ar := q.vector()
	q.compute(kernels.ChebyshevStart, kernels.Array[float64]{}, []V{0.5}, am, ab, ad, ax, ar)
	for i := range b {
		d[i] = 0.5 * (m[i] * b[i])
	}
	copy(x, d)
	copy(r, b)
	q.same(d, ad, "chebyshev-start, d")
	q.same(x, ax, "chebyshev-start, x")
	q.same(r, ar, "chebyshev-start, r")
	q.compute(kernels.ChebyshevStep, kernels.Array[float64]{}, []V{-0.75, 0.25}, am, ar, ad, ax)
	for i := range b {
		d[i] = -0.75*d[i] + 0.25*(m[i]*r[i])
		x[i] += d[i]
	}
	q.same(d, ad, "chebyshev-step, d")
	q.same(x, ax, "chebyshev-step, x")
}
