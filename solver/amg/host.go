package amg

import (
	"context"
	"errors"
	"math"
	"sync/atomic"

	"github.com/msrep-go/msrep/internal/devvec"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/internal/multigrid"
	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// host is a level with its vectors in host memory. The workers of its plan run the operations on vectors.
type host[V sparse.Value] struct {
	plans[V]
	inverse []V
}

// grain is the least number of elements for a worker.
const grain = 1 << 13

func (h *host[V]) each(f func(lo, hi int)) error {
	n, _ := h.a.Dims()
	return h.a.Range(n, grain, f)
}

func (h *host[V]) Product(alpha float64, x []V, beta float64, y []V) error {
	return h.a.SpMV(context.Background(), msrep.NoTrans, V(alpha), x, V(beta), y)
}

func (h *host[V]) Restrict(r, coarse []V) error {
	return h.r.SpMV(context.Background(), msrep.NoTrans, 1, r, 0, coarse)
}

func (h *host[V]) Prolong(coarse, x []V) error {
	return h.p.SpMV(context.Background(), msrep.NoTrans, 1, coarse, 1, x)
}

func (h *host[V]) Copy(b, r []V) error {
	return h.each(func(lo, hi int) { copy(r[lo:hi], b[lo:hi]) })
}

func (h *host[V]) Start(c float64, b, d, x, r []V) error {
	return h.each(func(lo, hi int) {
		vec.ChebyshevStart(V(c), h.inverse[lo:hi], b[lo:hi], d[lo:hi], x[lo:hi], r[lo:hi])
	})
}

func (h *host[V]) Step(a, c float64, r, d, x []V) error {
	return h.each(func(lo, hi int) {
		vec.ChebyshevStep(V(a), V(c), h.inverse[lo:hi], r[lo:hi], d[lo:hi], x[lo:hi])
	})
}

// Solve multiplies by the inverse.
func (h *host[V]) Solve(b, x []V) error { return h.Product(1, b, 0, x) }

// onHost runs cycles on vectors in host memory.
type onHost[V sparse.Value] struct {
	levels []*host[V]
	cycle  multigrid.Cycle[[]V]
	b, x   []V // right-hand side and solution, unless V is float64
	size   int64
}

func newHost[V sparse.Value](ctx context.Context, sys *msrep.System, levels []*level, opt Options) (_ *onHost[V], err error) {
	o := &onHost[V]{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	for _, l := range levels {
		p, err := newPlans[V](ctx, sys, l, opt)
		if err != nil {
			return nil, err
		}
		h := &host[V]{plans: p, inverse: converted[V](l.inverse)}
		o.levels = append(o.levels, h)
		o.size += p.bytes() + mem.Size[V]()*int64(len(h.inverse))
	}
	vector := func(k int) ([]V, error) {
		n := levels[k].a.Rows
		o.size += mem.Size[V]() * int64(n)
		return mem.Make[V](n), nil
	}
	o.cycle, err = newCycle(levels, opt, multigrid.LeastOnHost, func(k int) multigrid.Level[[]V] { return o.levels[k] }, vector)
	if err != nil {
		return nil, err
	}
	if _, same := any(o.b).([]float64); !same {
		o.b, _ = vector(0)
		o.x, _ = vector(0)
	}
	return o, nil
}

func (o *onHost[V]) bytes() int64 { return o.size }

func (o *onHost[V]) close() error {
	var errs []error
	for _, h := range o.levels {
		errs = append(errs, h.close())
	}
	return errors.Join(errs...)
}

// apply computes z = M r.
func (o *onHost[V]) apply(r, z []float64) error {
	if b, ok := any(r).([]V); ok {
		return o.cycle.Apply(b, any(z).([]V))
	}
	scale, err := o.scaleOf(r)
	if err != nil {
		return err
	}
	h := o.levels[0]
	if err := h.each(func(lo, hi int) {
		b := o.b[lo:hi]
		for i, v := range r[lo:hi] {
			b[i] = V(v * scale)
		}
	}); err != nil {
		return err
	}
	if err := o.cycle.Apply(o.b, o.x); err != nil {
		return err
	}
	scale = 1 / scale
	return h.each(func(lo, hi int) {
		out := z[lo:hi]
		for i, v := range o.x[lo:hi] {
			out[i] = float64(v) * scale
		}
	})
}

func (o *onHost[V]) applyVector(_ context.Context, r, z *msrep.Vector[float64]) error {
	if r.Host() != nil {
		return devvec.Queued(z, []*msrep.Vector[float64]{r}, func(*devvec.Queue) error { return o.apply(r.Host(), z.Host()) })
	}
	b, x := make([]float64, r.Len()), make([]float64, r.Len())
	if err := r.Read(b); err != nil {
		return err
	}
	if err := o.apply(b, x); err != nil {
		return err
	}
	return z.Write(x)
}

// scaleOf returns multigrid.Scale for the largest element of r.
func (o *onHost[V]) scaleOf(r []float64) (float64, error) {
	var largest atomic.Uint64 // as bits: those of positive numbers have the same order
	err := o.levels[0].each(func(lo, hi int) {
		const sign = 1 << 63
		var m [4]uint64
		v := r[lo:hi]
		for ; len(v) >= 4; v = v[4:] {
			m[0] = max(m[0], math.Float64bits(v[0])&^sign)
			m[1] = max(m[1], math.Float64bits(v[1])&^sign)
			m[2] = max(m[2], math.Float64bits(v[2])&^sign)
			m[3] = max(m[3], math.Float64bits(v[3])&^sign)
		}
		for _, x := range v {
			m[0] = max(m[0], math.Float64bits(x)&^sign)
		}
		for bits := max(m[0], m[1], m[2], m[3]); ; {
			old := largest.Load()
			if bits <= old || largest.CompareAndSwap(old, bits) {
				return
			}
		}
	})
	return multigrid.Scale(math.Float64frombits(largest.Load())), err
}

// converted returns v in the type V: v itself where it is that type.
func converted[V sparse.Value](v []float64) []V {
	if same, ok := any(v).([]V); ok || v == nil {
		return same
	}
	w := mem.Uncleared[V](len(v))
	par.Range(int64(len(v)), grain, func(lo, hi int64) {
		for i := lo; i < hi; i++ {
			w[i] = V(v[i])
		}
	})
	return w
}
