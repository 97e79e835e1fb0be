package devicetest

import (
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
	got := q.run(&kernels.CGStep[V]{A: 0.75, P: ap, Q: au, X: ax, R: ar, Sums: sums}, sums)
	for i := range p {
		x[i] += 0.75 * p[i]
		r[i] -= 0.75 * u[i]
	}
	q.same(x, ax, "step, x")
	q.same(r, ar, "step, r")
	q.near(square(r, r), got[0], "cg-step")
}

func (q *vectorProblem[V]) turn() {
	r, ar := q.vector()
	v, av := q.vector()
	p, ap := q.vector()
	q.run(&kernels.BiCGSTABDirection[V]{B: 0.5, W: -0.75, R: ar, V: av, P: ap}, kernels.Array[float64]{})
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
	got := q.run(&kernels.BiCGSTABStep[V]{A: 0.75, W: -0.5, P: ap, S: as, T: au, C: ac, X: ax, R: ar, Sums: sums}, sums)
	for i := range p {
		x[i] += 0.75*p[i] - 0.5*s[i]
		r[i] += 0.5 * u[i]
	}
	q.same(x, ax, "finish, x")
	q.same(r, ar, "finish, r")
	q.near(square(r, r), got[0], "bicgstab-step")
	q.near(square(c, r), got[1], "bicgstab-step")
}
