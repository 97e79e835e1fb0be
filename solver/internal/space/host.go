package space

import (
	"context"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/msrep"
)

// Host is a space with its vectors in host memory. Its operations run on all CPUs and read and write each vector
// of their formula once.
//
// Sums are over chunks of a fixed size, added in order, so that they do not depend on the number of goroutines.
type Host struct {
	work
	a       operator
	m       preconditioner
	Inverse []float64 // 1/diagonal where m is Jacobi, which is then fused with the operations that use z = M*r
	N       int       // rows
	columns int
	V       [][]float64
	partial []float64 // two sums for each chunk of the last vector
	sums    []float64 // of the last formula
	packed  []float64 // the vectors of MultiplyAll, by row
	kept
}

// SumChunk is the number of elements of a chunk. Sums over vectors are computed chunk by chunk, and the sums of the
// chunks are added in order.
const SumChunk = 1 << 12 // small enough that two threads can share vectors that fit in the L1 and L2 caches

const (
	grain     = 8  // least chunks for a goroutine
	Stagger   = 40 // elements between the starts of vectors, modulo a page
	pageElems = 512
)

// NewHost returns a space of vectors for an operator.
func NewHost(ctx context.Context, a operator, m preconditioner, all *Processes) *Host {
	s := &Host{work: work{Ctx: ctx, procs: all}, a: a, m: m}
	s.N, s.columns = a.Dims()
	s.partial = make([]float64, 2*max(chunks(s.N), chunks(s.columns)))
	if d, ok := m.(diagonal); ok && all == nil { // one process only: fused Jacobi sums other values, and another process may have another preconditioner
		s.Inverse = d.Diagonal()
	}
	return s
}

// chunks returns the number of chunks of a vector of n elements.
func chunks(n int) int { return (n + SumChunk - 1) / SumChunk }

// Load uses b and x in place.
func (s *Host) Load(b, x []float64) (bv, xv Vector) { return s.adopt(b), s.adopt(x) }

// Zero makes each vector begin at another offset within a page. At equal offsets a core takes loads to depend on earlier
// stores to other vectors (4K aliasing).
func (s *Host) Zero() Vector { return s.zeros(s.N) }

func (s *Host) Column() Vector { return s.zeros(s.columns) }

func (s *Host) zeros(n int) Vector {
	off := (len(s.V) + 1) * Stagger % pageElems
	return s.adopt(s.take(n + off)[off:])
}

// adopt makes v a vector of the space.
func (s *Host) adopt(v []float64) Vector {
	s.V = append(s.V, v)
	return Vector(len(s.V) - 1)
}

func (s *Host) Fetch() error { return nil }

func (s *Host) Free() error { return s.kept.free() }

func (s *Host) Product(a float64, x Vector, b float64, y Vector) {
	s.multiply(func(ctx context.Context) error {
		err := s.a.SpMV(ctx, msrep.NoTrans, a, s.V[x], b, s.V[y])
		return err
	})
}

func (s *Host) Transposed(a float64, x Vector, b float64, y Vector) {
	s.multiply(func(ctx context.Context) error { return s.a.SpMV(ctx, msrep.Trans, a, s.V[x], b, s.V[y]) })
}

func (s *Host) Preconditioned(r, z Vector) Vector {
	if s.m == nil {
		return r
	}
	s.precondition(s.m, func() error {
		if b, ok := s.m.(onWorkersOf); ok {
			return b.ApplyOn(s.a, s.V[r], s.V[z])
		}
		if s.Inverse == nil {
			return s.m.Apply(s.V[r], s.V[z])
		}
		s.Each(len(s.V[z]), func(lo, hi int) { vec.Multiply(s.Inverse[lo:hi], s.V[r][lo:hi], s.V[z][lo:hi]) })
		return s.Err
	})
	return z
}

// Each calls f for each chunk [lo, hi) of n elements, on the workers.
func (s *Host) Each(n int, f func(lo, hi int)) {
	s.pieces(n, func(from, to int) {
		for k := from; k < to; k++ {
			f(k*SumChunk, min((k+1)*SumChunk, n))
		}
	})
}

// pieces calls f for ranges of chunks that together are all chunks of n elements, on the workers.
func (s *Host) pieces(n int, f func(from, to int)) {
	err := OnWorkers(s.a, chunks(n), f)
	if s.Err == nil {
		s.Err = err
	}
}

// total adds the sums of all chunks of all processes to out. part holds len(out) sums for each chunk, chunk by chunk.
func (s *Host) total(part []float64, out []float64) {
	if s.procs != nil {
		s.Err = s.procs.Total(s.Ctx, part, out, s.Err)
		return
	}
	AddChunks(part, out)
}

// sum calls f for each chunk [lo, hi) of n elements and returns the totals of what f adds to its two sums.
func (s *Host) sum(n int, f func(lo, hi int, a, b *vec.Sum)) (a, b float64) {
	s.partial = s.partial[:2*chunks(n)]
	s.pieces(n, func(from, to int) {
		var a, b vec.Sum
		for k := from; k < to; k++ {
			a, b = vec.Sum{}, vec.Sum{}
			f(k*SumChunk, min((k+1)*SumChunk, n), &a, &b)
			s.partial[2*k], s.partial[2*k+1] = a.Total(), b.Total()
		}
	})
	var out [2]float64
	s.total(s.partial, out[:])
	return out[0], out[1]
}

func (s *Host) Set(a float64, from, to Vector) {
	src, dst := s.V[from], s.V[to]
	s.Each(len(dst), func(lo, hi int) { vec.ScaleTo(a, src[lo:hi], dst[lo:hi]) })
}

func (s *Host) Random(x Vector, seed uint64) {
	v, first := s.V[x], s.procs.firstElement()
	s.Each(len(v), func(lo, hi int) { random(v[lo:hi], seed, first+lo) })
}

func (s *Host) Round(x Vector, exp int) { roundAt(s.V[x], exp) }

func (s *Host) Dot(xv, yv Vector) float64 {
	x, y := s.V[xv], s.V[yv]
	d, _ := s.sum(len(x), func(lo, hi int, xy, _ *vec.Sum) { vec.AddDot(x[lo:hi], y[lo:hi], xy) })
	return d
}

func (s *Host) Dots(xv, yv Vector) (xy, xx float64) {
	x, y := s.V[xv], s.V[yv]
	return s.sum(len(x), func(lo, hi int, xy, xx *vec.Sum) { vec.AddDots(x[lo:hi], y[lo:hi], xy, xx) })
}

func (s *Host) Axpy(a float64, xv, yv Vector) float64 {
	x, y := s.V[xv], s.V[yv]
	d, _ := s.sum(len(y), func(lo, hi int, yy, _ *vec.Sum) { vec.AddAxpy(a, x[lo:hi], y[lo:hi], yy) })
	return d
}

func (s *Host) UpdateResidual(a float64, _, qv, _, rv, zv Vector) (rr, rz float64) {
	if s.Inverse == nil {
		rr = s.Axpy(-a, qv, rv)
		if s.m == nil {
			return rr, rr
		}
		return rr, s.Dot(rv, s.Preconditioned(rv, zv))
	}
	q, r, d := s.V[qv], s.V[rv], s.Inverse
	return s.sum(len(r), func(lo, hi int, rr, rz *vec.Sum) {
		vec.AddAxpyScaled(-a, q[lo:hi], r[lo:hi], d[lo:hi], rr, rz)
	})
}

func (s *Host) UpdateDirection(a, b float64, rv, zv, pv, xv Vector) {
	z, p, x := s.V[rv], s.V[pv], s.V[xv]
	switch {
	case s.Inverse != nil:
		d := s.Inverse
		s.Each(len(p), func(lo, hi int) { vec.UpdateDirectionScaled(a, b, d[lo:hi], z[lo:hi], p[lo:hi], x[lo:hi]) })
		return
	case s.m != nil:
		z = s.V[zv]
	}
	s.Each(len(p), func(lo, hi int) { vec.UpdateDirection(a, b, z[lo:hi], p[lo:hi], x[lo:hi]) })
}

func (s *Host) UpdateSolution(a float64, p, x Vector) { s.Add(a, []float64{1}, []Vector{p}, x) }

// chunkBuffer is the arguments of a formula for a chunk. They escape to the heap, so they are kept for the next call.
type chunkBuffer struct {
	v    [][]float64
	sums []vec.Sum
}

var chunkBuffers = sync.Pool{New: func() any { return new(chunkBuffer) }}

func (s *Host) Compute(f *kernels.Formula, numbers []float64, v ...Vector) []float64 {
	loop, k, n := kernels.LoopOf[float64](f), f.Sums, len(s.V[v[0]])
	part := slices.Grow(s.partial[:0], chunks(n)*k)[:chunks(n)*k]
	s.pieces(n, func(from, to int) {
		b := chunkBuffers.Get().(*chunkBuffer)
		defer func() {
			clear(b.v)
			chunkBuffers.Put(b)
		}()
		b.v, b.sums = slices.Grow(b.v[:0], len(v))[:len(v)], slices.Grow(b.sums[:0], k)[:k]
		chunk, sums := b.v, b.sums
		for c := from; c < to; c++ {
			for j, x := range v {
				chunk[j] = s.V[x][c*SumChunk : min((c+1)*SumChunk, n)]
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

// AddChunks sets out to the totals of the sums of all chunks, added in order. part holds len(out) sums for each chunk.
func AddChunks(part, out []float64) {
	clear(out)
	for i, p := range part {
		out[i%len(out)] += p
	}
}
