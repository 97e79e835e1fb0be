package devvec

import (
	"cmp"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// CGStep updates the solution and the residual at the end of an iteration of CG (Hestenes and Stiefel, 1952), in one
// pass, and returns r'r of the new r:
//
//	x = x + a*p    the solution
//	r = r - a*q    its residual
//
// p is the search direction, q = A p, and a = r'z / p'q. z is r, or M r with a preconditioner M. The next direction
// is p = z + b*p, which is p.Axpby(1, z, b), where b is the new r'z divided by the old r'z. x and r must be different
// from all other arguments.
func CGStep[V sparse.Value](a V, p, q, x, r *Vector[V]) (float64, error) {
	if err := cmp.Or(x.notAmong(p, q, r), r.notAmong(p, q)); err != nil {
		return 0, err
	}
	var sum [1]float64
	err := r.reduce(sum[:], []*Vector[V]{p, q, x}, func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.CGStep[V]{A: a, P: p.pieces[i], Q: q.pieces[i], X: x.pieces[i], R: r.pieces[i], Sums: sums}
	})
	return sum[0], err
}

// BiCGSTABDirection computes the next search direction of BiCGSTAB (van der Vorst, 1992), in one pass:
//
//	p = r + b*(p - w*v)
//
// r is the residual, and v = A p of the old p (A M p with a preconditioner M). b = (c'r / old c'r) * (a / w). a, w
// and c'r are those of BiCGSTABStep. p must be different from r and v.
func BiCGSTABDirection[V sparse.Value](r *Vector[V], b, w V, v, p *Vector[V]) error {
	if err := p.notAmong(r, v); err != nil {
		return err
	}
	return p.launch([]*Vector[V]{r, v}, func(i int) kernels.Operation {
		return &kernels.BiCGSTABDirection[V]{B: b, W: w, R: r.pieces[i], V: v.pieces[i], P: p.pieces[i]}
	})
}

// BiCGSTABStep updates the solution and the residual at the end of an iteration of BiCGSTAB (van der Vorst, 1992), in
// one pass, and returns r'r and c'r of the new r:
//
//	x = x + a*p + w*s    the solution
//	r = r - w*t          its residual
//
// With r0 the residual before this iteration, v = A p and a = c'r0 / c'v, the caller passes the intermediate residual
// r0 - a*v as both r and s: s may be r itself. t = A s, and w = t'r / t't. With a preconditioner M, pass M p for p and
// M r for s; then v = A M p and t = A M r. c is the initial residual, or another vector that is the same in all
// iterations. Except for s = r, x and r must be different from all other arguments.
func BiCGSTABStep[V sparse.Value](a V, p *Vector[V], w V, s, x, t, r, c *Vector[V]) (rr, cr float64, err error) {
	if err := cmp.Or(x.notAmong(p, s, t, r, c), r.notAmong(p, t, c)); err != nil {
		return 0, 0, err
	}
	var sums [2]float64
	err = r.reduce(sums[:], []*Vector[V]{p, s, x, t, c}, func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.BiCGSTABStep[V]{A: a, W: w, P: p.pieces[i], S: s.pieces[i], T: t.pieces[i], C: c.pieces[i],
			X: x.pieces[i], R: r.pieces[i], Sums: sums}
	})
	return sums[0], sums[1], err
}
