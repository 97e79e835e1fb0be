package solver

import (
	"context"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
)

// hostSpace is a space with its vectors in host memory. Its operations run on all CPUs and read and write each vector
// of their formula once.
//
// Sums are over chunks of a fixed size, added in order, so that they do not depend on the number of goroutines.
type hostSpace struct {
	work
	a       Operator
	m       Preconditioner
	inverse []float64 // 1/diagonal where m is Jacobi, which is then fused with the operations that use z = M*r
	n       int
	v       [][]float64
	partial []float64 // two sums for each chunk
	sums    []float64 // of the last formula
}

// SumChunk is the number of elements of a chunk. Sums over vectors are computed chunk by chunk, and the sums of the
// chunks are added in order.
const SumChunk = 1 << 12 // small enough that two threads can share vectors that fit in the L1 and L2 caches

const (
	grain     = 8  // least chunks for a goroutine
	stagger   = 40 // elements between the starts of vectors, modulo a page
	pageElems = 512
)

// newHostSpace returns a space of vectors of n elements.
func newHostSpace(ctx context.Context, a Operator, m Preconditioner, all *processes, n int) *hostSpace {
	s := &hostSpace{work: work{ctx: ctx, procs: all}, a: a, m: m, n: n, partial: make([]float64, 2*((n+SumChunk-1)/SumChunk))}
	if j, ok := m.(*jacobi); ok && all == nil { // one process only: fused Jacobi sums other values, and another process may have another preconditioner
		s.inverse = j.inverse
	}
	return s
}

// load uses b and x in place.
func (s *hostSpace) load(b, x []float64) (bv, xv vector) { return s.adopt(b), s.adopt(x) }

// zero makes each vector begin at another offset within a page. At equal offsets a core takes loads to depend on earlier
// stores to other vectors (4K aliasing).
func (s *hostSpace) zero() vector {
	off := (len(s.v) + 1) * stagger % pageElems
	return s.adopt(make([]float64, s.n+off)[off:])
}

// adopt makes v a vector of the space.
func (s *hostSpace) adopt(v []float64) vector {
	s.v = append(s.v, v)
	return vector(len(s.v) - 1)
}

func (s *hostSpace) fetch() error { return nil }

func (s *hostSpace) free() error { return nil }

func (s *hostSpace) product(a float64, x vector, b float64, y vector) {
	s.multiply(func(ctx context.Context) error {
		err := s.a.SpMV(ctx, msrep.NoTrans, a, s.v[x], b, s.v[y])
		return err
	})
}

func (s *hostSpace) preconditioned(r, z vector) vector {
	if s.m == nil {
		return r
	}
	s.precondition(func() error {
		if b, ok := s.m.(*blockJacobi); ok {
			return b.apply(s.a, s.v[r], s.v[z])
		}
		if s.inverse == nil {
			return s.m.Apply(s.v[r], s.v[z])
		}
		s.each(func(lo, hi int) { vec.Multiply(s.inverse[lo:hi], s.v[r][lo:hi], s.v[z][lo:hi]) })
		return s.err
	})
	return z
}

// each calls f for each chunk [lo, hi), on the workers.
func (s *hostSpace) each(f func(lo, hi int)) {
	s.pieces(func(from, to int) {
		for k := from; k < to; k++ {
			f(k*SumChunk, min((k+1)*SumChunk, s.n))
		}
	})
}

// pieces calls f for ranges of chunks that together are all chunks, on the workers.
func (s *hostSpace) pieces(f func(from, to int)) {
	err := onWorkers(s.a, len(s.partial)/2, f)
	if s.err == nil {
		s.err = err
	}
}

// total adds the sums of all chunks of all processes to out. part holds len(out) sums for each chunk, chunk by chunk.
func (s *hostSpace) total(part []float64, out []float64) {
	if s.procs != nil {
		s.err = s.procs.total(s.ctx, part, out, s.err)
		return
	}
	addChunks(part, out)
}

// sum calls f for each chunk [lo, hi) and returns the totals of what f adds to its two sums.
func (s *hostSpace) sum(f func(lo, hi int, a, b *vec.Sum)) (a, b float64) {
	s.pieces(func(from, to int) {
		var a, b vec.Sum
		for k := from; k < to; k++ {
			a, b = vec.Sum{}, vec.Sum{}
			f(k*SumChunk, min((k+1)*SumChunk, s.n), &a, &b)
			s.partial[2*k], s.partial[2*k+1] = a.Total(), b.Total()
		}
	})
	var out [2]float64
	s.total(s.partial, out[:])
	return out[0], out[1]
}

func (s *hostSpace) set(a float64, from, to vector) {
	src, dst := s.v[from], s.v[to]
	s.each(func(lo, hi int) { vec.ScaleTo(a, src[lo:hi], dst[lo:hi]) })
}

func (s *hostSpace) round(x vector, exp int) { roundAt(s.v[x], exp) }

func (s *hostSpace) dot(xv, yv vector) float64 {
	x, y := s.v[xv], s.v[yv]
	d, _ := s.sum(func(lo, hi int, xy, _ *vec.Sum) { vec.AddDot(x[lo:hi], y[lo:hi], xy) })
	return d
}

func (s *hostSpace) dots(xv, yv vector) (xy, xx float64) {
	x, y := s.v[xv], s.v[yv]
	return s.sum(func(lo, hi int, xy, xx *vec.Sum) { vec.AddDots(x[lo:hi], y[lo:hi], xy, xx) })
}

func (s *hostSpace) axpy(a float64, xv, yv vector) float64 {
	x, y := s.v[xv], s.v[yv]
	d, _ := s.sum(func(lo, hi int, yy, _ *vec.Sum) { vec.AddAxpy(a, x[lo:hi], y[lo:hi], yy) })
	return d
}

func (s *hostSpace) updateResidual(a float64, _, qv, _, rv, zv vector) (rr, rz float64) {
	if s.inverse == nil {
		rr = s.axpy(-a, qv, rv)
		if s.m == nil {
			return rr, rr
		}
		return rr, s.dot(rv, s.preconditioned(rv, zv))
	}
	q, r, d := s.v[qv], s.v[rv], s.inverse
	return s.sum(func(lo, hi int, rr, rz *vec.Sum) {
		vec.AddAxpyScaled(-a, q[lo:hi], r[lo:hi], d[lo:hi], rr, rz)
	})
}

func (s *hostSpace) updateDirection(a, b float64, rv, zv, pv, xv vector) {
	z, p, x := s.v[rv], s.v[pv], s.v[xv]
	switch {
	case s.inverse != nil:
		d := s.inverse
		s.each(func(lo, hi int) { vec.UpdateDirectionScaled(a, b, d[lo:hi], z[lo:hi], p[lo:hi], x[lo:hi]) })
		return
	case s.m != nil:
		z = s.v[zv]
	}
	s.each(func(lo, hi int) { vec.UpdateDirection(a, b, z[lo:hi], p[lo:hi], x[lo:hi]) })
}

func (s *hostSpace) updateSolution(a float64, p, x vector) { s.add(a, []float64{1}, []vector{p}, x) }

// chunkBuffer is the arguments of a formula for a chunk. They escape to the heap, so they are kept for the next call.
type chunkBuffer struct {
	v    [][]float64
	sums []vec.Sum
}

var chunkBuffers = sync.Pool{New: func() any { return new(chunkBuffer) }}

func (s *hostSpace) compute(f *kernels.Formula, numbers []float64, v ...vector) []float64 {
	loop, k := kernels.LoopOf[float64](f), f.Sums
	part := slices.Grow(s.partial[:0], len(s.partial)/2*k)[:len(s.partial)/2*k]
	s.pieces(func(from, to int) {
		b := chunkBuffers.Get().(*chunkBuffer)
		defer func() {
			clear(b.v)
			chunkBuffers.Put(b)
		}()
		b.v, b.sums = slices.Grow(b.v[:0], len(v))[:len(v)], slices.Grow(b.sums[:0], k)[:k]
		chunk, sums := b.v, b.sums
		for c := from; c < to; c++ {
			for j, x := range v {
				chunk[j] = s.v[x][c*SumChunk : min((c+1)*SumChunk, s.n)]
			}
			clear(sums)
			loop(numbers, chunk, sums)
			for j := range sums {
				part[c*k+j] = sums[j].Total()
			}
		}
	})
	s.sums = slices.Grow(s.sums[:0], k)[:k]
	if k > 0 {
		s.total(part, s.sums)
	}
	return s.sums
}

// addChunks sets out to the totals of the sums of all chunks, added in order. part holds len(out) sums for each chunk.
func addChunks(part, out []float64) {
	clear(out)
	for i, p := range part {
		out[i%len(out)] += p
	}
}
