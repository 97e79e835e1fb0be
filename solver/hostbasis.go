package solver

import (
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/kernels/cpu/simd"
)

// tileElems is how many elements of the vectors of a basis are worked on at a time: half of a
// second cache of 1 MiB.
const tileElems = 1 << 16

// basis is the memory of vectors.
func (s *hostSpace) basis(v []vector) [][]float64 {
	out := make([][]float64, len(v))
	for j, k := range v {
		out[j] = s.v[k]
	}
	return out
}

// tiles calls f for pieces of w, of which as much of each of so many vectors stays in the second
// cache. A piece begins a multiple of 8 elements behind its block.
func tiles(vectors, lo, hi int, f func(lo, hi int)) {
	step := max(tileElems/max(vectors, 1)&^7, 512)
	for ; lo < hi; lo += step {
		f(lo, min(lo+step, hi))
	}
}

// projections calls f for all blocks, which adds to one sum for each element of h.
func (s *hostSpace) projections(h []float64, f func(lo, hi int, sums []vec.Sum)) {
	m := len(h)
	part := make([]float64, len(s.partial)/2*m)
	s.each(func(lo, hi int) {
		sums := make([]vec.Sum, m)
		f(lo, hi, sums)
		for j := range sums {
			part[lo/SumBlock*m+j] = sums[j].Total()
		}
	})
	s.total(part, h)
}

func (s *hostSpace) project(h []float64, v []vector, wv vector) {
	w, basis := s.v[wv], s.basis(v)
	s.projections(h, func(lo, hi int, sums []vec.Sum) {
		simd.Project(s.level, basis, lo, w[lo:hi], sums)
	})
}

func (s *hostSpace) add(a float64, h []float64, v []vector, wv vector) {
	w, basis := s.v[wv], s.basis(v)
	s.each(func(lo, hi int) { simd.Combine(s.level, a, h, basis, lo, w[lo:hi]) })
}

// remove reads the vectors from memory once: they are in the cache when it projects.
func (s *hostSpace) remove(h []float64, v []vector, wv vector, again []float64) {
	w, basis := s.v[wv], s.basis(v)
	s.projections(again, func(lo, hi int, sums []vec.Sum) {
		tiles(len(v), lo, hi, func(lo, hi int) {
			simd.Combine(s.level, -1, h, basis, lo, w[lo:hi])
			simd.Project(s.level, basis, lo, w[lo:hi], sums)
		})
	})
}

func (s *hostSpace) combine(a float64, h []float64, v []vector, wv vector) float64 {
	w, basis := s.v[wv], s.basis(v)
	d, _ := s.sum(func(lo, hi int) (ww, _ float64) {
		simd.Combine(s.level, a, h, basis, lo, w[lo:hi])
		return simd.Dot(s.level, w[lo:hi], w[lo:hi]), 0
	})
	return d
}
