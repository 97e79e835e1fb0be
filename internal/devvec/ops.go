package devvec

import (
	"errors"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/rescue"
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
	_, err := Compute(kernels.Multiply, nil, d, x, v)
	return err
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

// Misfit returns the square of the 2-norm of v - a*x.
func (v *Vector[V]) Misfit(a V, x *Vector[V]) (float64, error) {
	sums, err := Compute(kernels.Misfit, []V{a}, v, x)
	if err != nil {
		return 0, err
	}
	return sums[0], nil
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
	defer rescue.To(&err)
	if err := v.checkCuts(others); err != nil {
		return err
	}
	return Queued(v, others, func(q *Queue) error {
		return q.Each(func(i int) error {
			if v.pieces[i].Len == 0 {
				return nil
			}
			return q.On[i].Launch(op(i))
		})
	})
}

// reduce queues an operation on all devices that have elements of v, waits, and sets out to the total of the sums
// that the devices compute.
func (v *Vector[V]) reduce(out []float64, others []*Vector[V], op func(i int, sums kernels.Array[float64]) kernels.Operation) (err error) {
	defer rescue.To(&err)
	if err := v.checkCuts(others); err != nil {
		return err
	}
	return Queued(v, others, func(q *Queue) error {
		k := len(out)
		part := make([]float64, k*len(q.devices))
		err := q.Each(func(i int) error {
			if v.pieces[i].Len == 0 {
				return q.On[i].Sync()
			}
			sums, err := q.sumBuffer(i, k)
			if err != nil {
				return err
			}
			s := q.On[i]
			return errors.Join(s.Launch(op(i, sums)), sums.Read(s, part[i*k:(i+1)*k]), s.Sync())
		})
		clear(out)
		for i, p := range part {
			out[i%k] += p
		}
		return err
	})
}

// Copy computes v = x. The two vectors may have different pieces.
func (v *Vector[V]) Copy(x *Vector[V]) (err error) {
	defer rescue.To(&err)
	if v == x {
		return nil
	}
	if x != nil && v != nil && v.Len() != x.Len() {
		return sparse.Inputf("x", "%d elements: the vector that it is copied to has %d", x.Len(), v.Len())
	}
	return Queued(v, []*Vector[V]{x}, func(q *Queue) error { return v.copyAcross(q, x) })
}

// copyAcross copies each piece of v from the pieces of x that have its elements.
func (v *Vector[V]) copyAcross(q *Queue, x *Vector[V]) error {
	same := slices.Equal(v.cuts, x.cuts)
	if !same { // other devices must finish writing x
		if err := q.Barrier(everyDevice); err != nil {
			return err
		}
	}
	err := q.Each(func(i int) error { return CopyRange(q.On[i], i, v.pieces[i], v.cuts[i], v.cuts[i+1], x) })
	if err != nil || same {
		return err
	}
	return q.Barrier(everyDevice) // before the next operation writes to x
}

// CopyRange copies the elements [lo, hi) of x to the start of an array on device i. It begins with the piece of device i+1,
// so that several devices that copy at the same time read from different ones.
func CopyRange[V sparse.Value](s kernels.Stream, i int, to kernels.Array[V], lo, hi int, x *Vector[V]) error {
	size := mem.Size[V]()
	for k := range x.pieces {
		j := (i + 1 + k) % len(x.pieces)
		piece := x.pieces[j]
		a, b := max(lo, x.cuts[j]), min(hi, x.cuts[j+1])
		if a >= b {
			continue
		}
		err := s.Copy(to.Buf, to.Off+int64(a-lo)*size, piece.Buf, piece.Off+int64(a-x.cuts[j])*size, int64(b-a)*size)
		if err != nil {
			return err
		}
	}
	return nil
}
