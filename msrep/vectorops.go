package msrep

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Fill sets every element of v to a.
func (v *Vector[V]) Fill(a V) error {
	return v.launch(nil, func(i int) kernels.Operation { return &kernels.Fill[V]{Value: a, Y: v.pieces[i]} })
}

// Scale computes v = a*v. a = 0 overwrites v without reading it.
func (v *Vector[V]) Scale(a V) error {
	return v.launch(nil, func(i int) kernels.Operation { return &kernels.Scale[V]{Beta: a, Y: v.pieces[i]} })
}

// Axpy computes v = v + a*x.
func (v *Vector[V]) Axpy(a V, x *Vector[V]) error { return v.Axpby(a, x, 1) }

// Axpby computes v = a*x + b*v. b = 0 overwrites v without reading it. If x is v, Axpby computes Scale(a + b).
func (v *Vector[V]) Axpby(a V, x *Vector[V], b V) error {
	if v == x {
		return v.Scale(a + b)
	}
	return v.launch([]*Vector[V]{x}, func(i int) kernels.Operation {
		return &kernels.Axpby[V]{Alpha: a, X: x.pieces[i], Beta: b, Y: v.pieces[i]}
	})
}

// Multiply computes v = d*x, element by element. v must be neither d nor x.
func (v *Vector[V]) Multiply(d, x *Vector[V]) error {
	if err := v.notAmong(d, x); err != nil {
		return err
	}
	return v.launch([]*Vector[V]{d, x}, func(i int) kernels.Operation {
		return &kernels.Multiply[V]{D: d.pieces[i], R: x.pieces[i], Z: v.pieces[i]}
	})
}

// Dot returns v'x. Vector states the order of the sum.
func (v *Vector[V]) Dot(x *Vector[V]) (float64, error) {
	var sum [1]float64
	err := v.Project(sum[:], []*Vector[V]{x})
	return sum[0], err
}

// Norm returns the 2-norm of v, the square root of v'v.
func (v *Vector[V]) Norm() (float64, error) {
	d, err := v.Dot(v)
	return math.Sqrt(d), err
}

// Project computes h[j] = vs[j]'v for all j and waits once. v may be one of vs. h and vs must have the same length.
func (v *Vector[V]) Project(h []float64, vs []*Vector[V]) error {
	if len(h) != len(vs) {
		return sparse.Inputf("h", "%d numbers for %d vectors", len(h), len(vs))
	}
	if len(vs) == 0 {
		return nil
	}
	return v.reduce(h, vs, func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.Project[V]{V: piecesOf(vs, i), W: v.pieces[i], Sums: sums}
	})
}

// Combine computes v = v + sum of h[j]*vs[j] over j, and returns v'v of the result. v must not be one of vs.
func (v *Vector[V]) Combine(h []V, vs []*Vector[V]) (float64, error) {
	if err := v.canAdd(h, vs); err != nil {
		return 0, err
	}
	if len(vs) == 0 {
		return v.Dot(v)
	}
	var sum [1]float64
	err := v.reduce(sum[:], vs, func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.Combine[V]{H: h, V: piecesOf(vs, i), W: v.pieces[i], Sums: sums}
	})
	return sum[0], err
}

// Add computes v = v + sum of h[j]*vs[j] over j, as Combine does, but returns no v'v and does not wait.
func (v *Vector[V]) Add(h []V, vs []*Vector[V]) error {
	if err := v.canAdd(h, vs); err != nil || len(vs) == 0 {
		return err
	}
	return v.launch(vs, func(i int) kernels.Operation { return &kernels.Combine[V]{H: h, V: piecesOf(vs, i), W: v.pieces[i]} })
}

// canAdd checks the arguments of Combine and Add.
func (v *Vector[V]) canAdd(h []V, vs []*Vector[V]) error {
	if len(h) != len(vs) {
		return sparse.Inputf("h", "%d numbers for %d vectors", len(h), len(vs))
	}
	if slices.Contains(vs, v) {
		return sparse.Inputf("vector", "is added to itself: use Scale")
	}
	return nil
}

// notAmong returns an error if v, which an operation writes, is one of vs, which it also uses.
func (v *Vector[V]) notAmong(vs ...*Vector[V]) error {
	if v != nil && slices.Contains(vs, v) {
		return sparse.Inputf("vector", "is the result and also another argument: use another vector for the result")
	}
	return nil
}

// Misfit returns the square of the 2-norm of v - a*x.
func (v *Vector[V]) Misfit(a V, x *Vector[V]) (float64, error) {
	var sum [1]float64
	err := v.reduce(sum[:], []*Vector[V]{x}, func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.Misfit[V]{A: a, X: x.pieces[i], Y: v.pieces[i], Sums: sums}
	})
	return sum[0], err
}

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

func piecesOf[V sparse.Value](vs []*Vector[V], i int) []kernels.Array[V] {
	out := make([]kernels.Array[V], len(vs))
	for j, x := range vs {
		out[j] = x.pieces[i]
	}
	return out
}

// launch queues an operation on all devices that have elements of v.
func (v *Vector[V]) launch(others []*Vector[V], op func(i int) kernels.Operation) (err error) {
	defer rescue(&err)
	if err := v.checkCuts(others); err != nil {
		return err
	}
	return v.withStreams(others, func(l *vectorStreams) error {
		return l.eachDevice(func(i int) error {
			if v.pieces[i].Len == 0 {
				return nil
			}
			return l.streams[i].Launch(op(i))
		})
	})
}

// reduce queues an operation on all devices that have elements of v, waits, and sets out to the total of the sums
// that the devices compute.
func (v *Vector[V]) reduce(out []float64, others []*Vector[V], op func(i int, sums kernels.Array[float64]) kernels.Operation) (err error) {
	defer rescue(&err)
	if err := v.checkCuts(others); err != nil {
		return err
	}
	return v.withStreams(others, func(l *vectorStreams) error {
		k := len(out)
		part := make([]float64, k*len(l.devices))
		err := l.eachDevice(func(i int) error {
			if v.pieces[i].Len == 0 {
				return l.streams[i].Sync()
			}
			sums, err := l.sumBuffer(i, k)
			if err != nil {
				return err
			}
			s := l.streams[i]
			return errors.Join(s.Launch(op(i, sums)), sums.Read(s, part[i*k:(i+1)*k]), s.Sync())
		})
		clear(out)
		for i, p := range part {
			out[i%k] += p
		}
		return err
	})
}
