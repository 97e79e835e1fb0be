package space

import (
	"github.com/msrep-go/msrep/internal/vec"
)

// basis returns the elements of the vectors v.
func (s *Host) basis(v []Vector) [][]float64 {
	out := make([][]float64, len(v))
	for j, k := range v {
		out[j] = s.V[k]
	}
	return out
}

func (s *Host) Project(v []Vector, uv, wv Vector) (g, h []float64) {
	u, w, basis := s.V[uv], s.V[wv], s.basis(v)
	m := len(v)
	all := make([]float64, 2*m+1)
	part := make([]float64, chunks(len(u))*len(all))
	s.pieces(len(u), func(from, to int) {
		sums := make([]vec.Sum, len(all))
		for k := from; k < to; k++ {
			lo, hi := k*SumChunk, min((k+1)*SumChunk, len(u))
			clear(sums)
			vec.Project(basis, lo, u[lo:hi], w[lo:hi], sums[:m], sums[m:2*m])
			vec.AddDot(u[lo:hi], w[lo:hi], &sums[2*m])
			for j := range sums {
				part[k*len(all)+j] = sums[j].Total()
			}
		}
	})
	s.total(part, all)
	return all[:m], all[m:]
}

func (s *Host) SubtractProjection(g, h []float64, v []Vector, uv, wv Vector) float64 {
	u, w, basis, m := s.V[uv], s.V[wv], s.basis(v), len(v)
	d, _ := s.sum(len(w), func(lo, hi int, ww, _ *vec.Sum) {
		vec.SubtractProjection(g, h[:m], basis, lo, u[lo:hi], w[lo:hi], ww)
		*ww = vec.Sum{}
		vec.AddAxpy(-h[m], u[lo:hi], w[lo:hi], ww)
	})
	return d
}

func (s *Host) Add(a float64, h []float64, v []Vector, wv Vector) {
	w, basis := s.V[wv], s.basis(v)
	s.pieces(len(w), func(from, to int) {
		var unused vec.Sum
		for k := from; k < to; k++ {
			lo := k * SumChunk
			vec.Combine(a, h, basis, lo, w[lo:min(lo+SumChunk, len(w))], &unused)
		}
	})
}

func (s *Host) Combine(a float64, h []float64, v []Vector, wv Vector) float64 {
	w, basis, last := s.V[wv], s.basis(v), len(v)-1
	d, _ := s.sum(len(w), func(lo, hi int, ww, unused *vec.Sum) {
		vec.Combine(a, h[:last], basis[:last], lo, w[lo:hi], unused)
		vec.AddAxpy(a*h[last], basis[last][lo:hi], w[lo:hi], ww)
	})
	return d
}
