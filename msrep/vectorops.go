package msrep

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Fill is v = a in every element.
func (v *Vector[V]) Fill(a V) error {
	return v.launch(nil, func(i int) kernels.Operation { return &kernels.Fill[V]{Value: a, Y: v.pieces[i]} })
}

// Scale is v = a*v. a = 0 overwrites v without reading it.
func (v *Vector[V]) Scale(a V) error {
	return v.launch(nil, func(i int) kernels.Operation { return &kernels.Scale[V]{Beta: a, Y: v.pieces[i]} })
}

// Axpy is v = v + a*x.
func (v *Vector[V]) Axpy(a V, x *Vector[V]) error { return v.Axpby(a, x, 1) }

// Axpby is v = a*x + b*v. b = 0 overwrites v without reading it. x may be v: that is Scale(a + b).
func (v *Vector[V]) Axpby(a V, x *Vector[V], b V) error {
	if v == x {
		return v.Scale(a + b)
	}
	return v.launch([]*Vector[V]{x}, func(i int) kernels.Operation {
		return &kernels.Axpby[V]{Alpha: a, X: x.pieces[i], Beta: b, Y: v.pieces[i]}
	})
}

// Multiply is v = d*x, element by element. v is neither of them.
func (v *Vector[V]) Multiply(d, x *Vector[V]) error {
	if err := v.notAmong(d, x); err != nil {
		return err
	}
	return v.launch([]*Vector[V]{d, x}, func(i int) kernels.Operation {
		return &kernels.Multiply[V]{D: d.pieces[i], R: x.pieces[i], Z: v.pieces[i]}
	})
}

// Dot is v'x. In which order sums are formed is said at Vector.
func (v *Vector[V]) Dot(x *Vector[V]) (float64, error) {
	var sum [1]float64
	err := v.Project(sum[:], []*Vector[V]{x})
	return sum[0], err
}

// Norm is the length of v, the square root of v'v.
func (v *Vector[V]) Norm() (float64, error) {
	d, err := v.Dot(v)
	return math.Sqrt(d), err
}

// Project is h[j] = vs[j]'v for all vs, which v may be among, with one wait.
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

// Combine is v = v + the sum of h[j]*vs[j], of which none is v, and gives v'v.
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

// Add is Combine without v'v: it does not wait.
func (v *Vector[V]) Add(h []V, vs []*Vector[V]) error {
	if err := v.canAdd(h, vs); err != nil || len(vs) == 0 {
		return err
	}
	return v.launch(vs, func(i int) kernels.Operation { return &kernels.Combine[V]{H: h, V: piecesOf(vs, i), W: v.pieces[i]} })
}

// canAdd says why vectors can't be added up to v.
func (v *Vector[V]) canAdd(h []V, vs []*Vector[V]) error {
	if len(h) != len(vs) {
		return sparse.Inputf("h", "%d numbers for %d vectors", len(h), len(vs))
	}
	if slices.Contains(vs, v) {
		return sparse.Inputf("vector", "is added to itself: use Scale")
	}
	return nil
}

// notAmong says that v, which is written, is one of those that are read.
func (v *Vector[V]) notAmong(vs ...*Vector[V]) error {
	if v != nil && slices.Contains(vs, v) {
		return sparse.Inputf("vector", "is written, and is another argument as well: use another one for the result")
	}
	return nil
}

// Misfit is the squared length of v - a*x.
func (v *Vector[V]) Misfit(a V, x *Vector[V]) (float64, error) {
	var sum [1]float64
	err := v.reduce(sum[:], []*Vector[V]{x}, func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.Misfit[V]{A: a, X: x.pieces[i], Y: v.pieces[i], Sums: sums}
	})
	return sum[0], err
}

// CGStep is the end of an iteration of CG (Hestenes and Stiefel, 1952), in one pass:
//
//	x = x + a*p    the solution
//	r = r - a*q    its residual
//
// where p is the direction of the search, q = A p, and a = r'z / p'q; z is r, or what the
// preconditioner makes of r. It gives r'r of the new r. The next direction is
// p = z + b*p with b the new r'z over the old one: p.Axpby(1, z, b). x and r are
// different from all others.
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

// BiCGSTABDirection is the next direction of BiCGSTAB (van der Vorst, 1992), in one pass:
//
//	p = r + b*(p - w*v)
//
// where r is the residual, v = A p of the old p (or A M p with the preconditioner M), and
// w the one that BiCGSTABStep was given. b = (c'r / the c'r before it) * (a / w), with a and
// c'r those of BiCGSTABStep. p is different from the others.
func BiCGSTABDirection[V sparse.Value](r *Vector[V], b, w V, v, p *Vector[V]) error {
	if err := p.notAmong(r, v); err != nil {
		return err
	}
	return p.launch([]*Vector[V]{r, v}, func(i int) kernels.Operation {
		return &kernels.BiCGSTABDirection[V]{B: b, W: w, R: r.pieces[i], V: v.pieces[i], P: p.pieces[i]}
	})
}

// BiCGSTABStep is the end of an iteration of BiCGSTAB (van der Vorst, 1992), in one pass:
//
//	x = x + a*p + w*s    the solution
//	r = r - w*t          its residual
//
// where r comes as the residual halfway, from which a*v was taken already: v = A p and
// a = c'r / c'v with the r before that. s is r, which may be given twice, t = A s, and
// w = t'r / t't. With a preconditioner M, p and s are M p and M r. c is the first
// residual, or any other vector that stays. It gives r'r and c'r of the new r, which BiCGSTABDirection
// needs. But for s = r, x and r are different from all others.
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

// launch puts an operation on all devices that have a piece.
func (v *Vector[V]) launch(others []*Vector[V], op func(i int) kernels.Operation) (err error) {
	defer rescue(&err)
	if err := v.alike(others); err != nil {
		return err
	}
	return v.do(others, func(l *vectorStreams) error {
		return l.eachDevice(func(i int) error {
			if v.pieces[i].Len == 0 {
				return nil
			}
			return l.streams[i].Launch(op(i))
		})
	})
}

// reduce puts an operation on all devices that have a piece, waits, and adds up the
// sums that it leaves.
func (v *Vector[V]) reduce(out []float64, others []*Vector[V], op func(i int, sums kernels.Array[float64]) kernels.Operation) (err error) {
	defer rescue(&err)
	if err := v.alike(others); err != nil {
		return err
	}
	return v.do(others, func(l *vectorStreams) error {
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
