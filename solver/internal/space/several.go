package space

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
)

func (s *Host) Inner(v, w []Vector) [][]float64 {
	left, right := s.basis(v), s.basis(w)
	count := len(v) * len(w)
	all := make([]float64, count)
	if count > 0 {
		n := len(right[0])
		part := make([]float64, chunks(n)*count)
		s.pieces(n, func(from, to int) {
			m := len(left)
			sums := make([]vec.Sum, 2*m)
			for k := from; k < to; k++ {
				lo, hi := k*SumChunk, min((k+1)*SumChunk, n)
				out := part[k*count:][:count]
				for j := 0; j < len(right); j += 2 { // a loop over two w reads v once; with the same w twice it is faster than Dot, too
					next := min(j+1, len(right)-1)
					clear(sums)
					vec.Project(left, lo, right[j][lo:hi], right[next][lo:hi], sums[:m], sums[m:])
					for i := range m {
						out[j*m+i], out[next*m+i] = sums[i].Total(), sums[m+i].Total()
					}
				}
			}
		})
		s.total(part, all)
	}
	return rows(all, len(w), len(v))
}

// rows cuts v into count slices of n elements.
func rows(v []float64, count, n int) [][]float64 {
	out := make([][]float64, count)
	for j := range out {
		out[j] = v[j*n : (j+1)*n]
	}
	return out
}

// rotations has scratch memory of Rotate.
var rotations = sync.Pool{New: func() any { return new([]float64) }}

// rotated is the number of elements of each vector that Rotate computes at once: those of about 50 vectors fit in the L2
// cache.
const rotated = 512

func (s *Host) Rotate(v []Vector, y [][]float64) {
	basis := s.basis(v)
	if len(y) == 0 {
		return
	}
	length := len(basis[0])
	err := OnWorkers(s.a, (length+rotated-1)/rotated, func(from, to int) {
		var unused vec.Sum
		b := rotations.Get().(*[]float64)
		defer rotations.Put(b)
		*b = slices.Grow((*b)[:0], len(y)*rotated)[:len(y)*rotated]
		temp := *b
		for lo := from * rotated; lo < min(to*rotated, length); lo += rotated {
			n := min(rotated, length-lo)
			clear(temp)
			for j, y := range y {
				vec.Combine(1, y, basis, lo, temp[j*rotated:][:n], &unused)
			}
			for j := range y {
				copy(basis[j][lo:lo+n], temp[j*rotated:])
			}
		}
	})
	if s.Err == nil {
		s.Err = err
	}
}

// multiplier is an operator that multiplies several vectors at once, such as a msrep.Plan.
type multiplier interface {
	SpMM(ctx context.Context, op msrep.Transpose, alpha float64, x msrep.MultiVector[float64], beta float64, y msrep.MultiVector[float64]) error
}

func (s *Host) MultiplyAll(a float64, x, y []Vector) {
	m, ok := s.a.(multiplier)
	if !ok || len(x) < 2 || len(x)*max(s.N, s.columns) > math.MaxInt/16 {
		for j := range x {
			s.Product(a, x[j], 0, y[j])
		}
		return
	}
	k := len(x)
	if n := k * (s.columns + s.N); len(s.packed) < n {
		s.packed = make([]float64, n)
	}
	in, out := s.packed[:k*s.columns], s.packed[k*s.columns:][:k*s.N]
	from, to := s.basis(x), s.basis(y)
	s.Each(s.columns, func(lo, hi int) {
		for j, v := range from {
			for i := lo; i < hi; i++ {
				in[i*k+j] = v[i]
			}
		}
	})
	s.multiply(func(ctx context.Context) error {
		return m.SpMM(ctx, msrep.NoTrans, a, msrep.MultiVectorByRow(in, k), 0, msrep.MultiVectorByRow(out, k))
	})
	s.count += k - 1
	s.Each(s.N, func(lo, hi int) {
		for j, v := range to {
			for i := lo; i < hi; i++ {
				v[i] = out[i*k+j]
			}
		}
	})
}

func (s *Host) Read(v Vector, dst []float64) { copy(dst, s.V[v]) }

func (s *device) Inner(v, w []Vector) [][]float64 {
	all := make([]float64, len(v)*len(w))
	out := rows(all, len(w), len(v))
	if len(all) == 0 {
		return out
	}
	s.sums(all, func() error {
		for j, k := range w {
			if err := s.v[k].Project(out[j], s.vectors(v)); err != nil {
				return err
			}
		}
		return nil
	})
	return out
}

// Rotate computes the new vectors in others, and exchanges them with v.
func (s *device) Rotate(v []Vector, y [][]float64) {
	if len(y) == 0 || s.Err != nil {
		return
	}
	n := s.v[v[0]].Len()
	spare := s.spare[n]
	for len(spare) < len(y) {
		if _, columns := s.a.Dims(); n == columns {
			spare = append(spare, s.Column())
		} else {
			spare = append(spare, s.Zero())
		}
	}
	if s.spare == nil {
		s.spare = map[int][]Vector{}
	}
	s.spare[n] = spare
	for j, y := range y {
		s.Set(0, v[0], spare[j])
		s.Add(1, y, v, spare[j])
	}
	for j := range y {
		s.v[v[j]], s.v[spare[j]] = s.v[spare[j]], s.v[v[j]]
	}
}

func (s *device) MultiplyAll(a float64, x, y []Vector) {
	for j := range x {
		s.Product(a, x[j], 0, y[j])
	}
}

func (s *device) Read(v Vector, dst []float64) {
	s.do(func() error { return s.v[v].Read(dst) })
}
