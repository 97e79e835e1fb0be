package solver

import (
	"context"
	"time"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/msrep"
)

// hostSpace is where the vectors of a solve live, in host memory, and what is done
// with them, on all CPUs. The first failure is kept: products and preconditioners do
// nothing after it, and failed gives it.
//
// Operations that read the same vectors are one: on large systems all of them wait
// for the memory, and each reads and writes what its formula in vector.go names once.
//
// Sums are over blocks of a fixed size, added in order: they do not depend on the
// number of goroutines.
type hostSpace struct {
	ctx     context.Context
	a       Operator
	m       Preconditioner
	n       int
	made    int
	partial [][2]float64 // one for each block
	err     error

	products, precond time.Duration
	count             int
}

const (
	block     = 1 << 13 // elements: a few vectors' worth stay in the cache next to a core
	grain     = 4       // blocks that are worth a goroutine
	stagger   = 40      // elements between the starts of vectors, modulo a page
	pageElems = 512
)

func newHostSpace(ctx context.Context, a Operator, m Preconditioner) *hostSpace {
	n, _ := a.Dims()
	return &hostSpace{ctx: ctx, a: a, m: m, n: n, partial: make([][2]float64, (n+block-1)/block)}
}

func (s *hostSpace) failed() error { return s.err }

// zero makes vectors that begin at different places of a page: where all begin at
// the same, a core takes loads for readers of what it has just stored.
func (s *hostSpace) zero() []float64 {
	s.made++
	off := s.made * stagger % pageElems
	return make([]float64, s.n+off)[off:]
}

func (s *hostSpace) set(a float64, src, dst []float64) {
	s.each(func(lo, hi int) { set(a, src[lo:hi], dst[lo:hi]) })
}

// product is y = a*A*x + b*y.
func (s *hostSpace) product(a float64, x []float64, b float64, y []float64) {
	if s.err != nil {
		return
	}
	t := time.Now()
	_, s.err = s.a.SpMV(s.ctx, msrep.NoTrans, a, x, b, y)
	s.products += time.Since(t)
	s.count++
}

// preconditioned gives z = M*r, kept in z, or r itself without a preconditioner.
func (s *hostSpace) preconditioned(r, z []float64) []float64 {
	if s.m == nil {
		return r
	}
	if s.err == nil {
		t := time.Now()
		s.err = s.m.Apply(r, z)
		s.precond += time.Since(t)
	}
	return z
}

func (s *hostSpace) timing() (products, precond time.Duration, count int) {
	return s.products, s.precond, s.count
}

// each calls f for all blocks.
func (s *hostSpace) each(f func(lo, hi int)) {
	par.Range(int64(len(s.partial)), grain, func(lo, hi int64) {
		for k := int(lo); k < int(hi); k++ {
			f(k*block, min((k+1)*block, s.n))
		}
	})
}

// sum calls f for all blocks and adds up what it gives.
func (s *hostSpace) sum(f func(lo, hi int) (a, b float64)) (a, b float64) {
	s.each(func(lo, hi int) {
		u, v := f(lo, hi)
		s.partial[lo/block] = [2]float64{u, v}
	})
	for _, p := range s.partial {
		a += p[0]
		b += p[1]
	}
	return a, b
}

func (s *hostSpace) dot(x, y []float64) float64 {
	d, _ := s.sum(func(lo, hi int) (float64, float64) { return dot(x[lo:hi], y[lo:hi]), 0 })
	return d
}

func (s *hostSpace) dots(x, y []float64) (xy, xx float64) {
	return s.sum(func(lo, hi int) (float64, float64) { return dots(x[lo:hi], y[lo:hi]) })
}

func (s *hostSpace) misfit(y []float64, a float64, x []float64) float64 {
	d, _ := s.sum(func(lo, hi int) (float64, float64) { return misfit(y[lo:hi], a, x[lo:hi]), 0 })
	return d
}

func (s *hostSpace) axpy(a float64, x, y []float64) float64 {
	d, _ := s.sum(func(lo, hi int) (float64, float64) { return axpy(a, x[lo:hi], y[lo:hi]), 0 })
	return d
}

func (s *hostSpace) xpby(x []float64, b float64, y []float64) {
	s.each(func(lo, hi int) { xpby(x[lo:hi], b, y[lo:hi]) })
}

func (s *hostSpace) step(a float64, p, q, x, r []float64) float64 {
	d, _ := s.sum(func(lo, hi int) (float64, float64) {
		return step(a, p[lo:hi], q[lo:hi], x[lo:hi], r[lo:hi]), 0
	})
	return d
}

func (s *hostSpace) turn(r []float64, b, w float64, v, p []float64) {
	s.each(func(lo, hi int) { turn(r[lo:hi], b, w, v[lo:hi], p[lo:hi]) })
}

func (s *hostSpace) finish(a float64, p []float64, w float64, u, x, t, r, c []float64) (rr, cr float64) {
	return s.sum(func(lo, hi int) (float64, float64) {
		return finish(a, p[lo:hi], w, u[lo:hi], x[lo:hi], t[lo:hi], r[lo:hi], c[lo:hi])
	})
}

// project computes h[j] = v[j]'w. It keeps a block of w in the cache for all v.
func (s *hostSpace) project(h []float64, v [][]float64, w []float64) {
	part := make([]float64, len(s.partial)*len(v))
	s.each(func(lo, hi int) {
		row := part[lo/block*len(v):]
		for j := range v {
			row[j] = dot(v[j][lo:hi], w[lo:hi])
		}
	})
	clear(h)
	for k := range part {
		h[k%len(v)] += part[k]
	}
}

// combine is w = w + sign * sum of h[j]*v[j], and w'w. It keeps a block of w in the cache for all v.
func (s *hostSpace) combine(sign float64, h []float64, v [][]float64, w []float64) float64 {
	d, _ := s.sum(func(lo, hi int) (ww, _ float64) {
		for j := range v {
			ww = axpy(sign*h[j], v[j][lo:hi], w[lo:hi])
		}
		return ww, 0
	})
	return d
}
