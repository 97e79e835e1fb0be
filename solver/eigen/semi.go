package eigen

import "math"

// levels estimates how far from orthogonal the last vector of a basis is to the others, while it is only made orthogonal to its
// two neighbours, by the recurrence of Simon ("The Lanczos algorithm with partial reorthogonalization", Math. Comp. 42, 1984).
// An element is about v_j'v_k.
type levels struct{ before, now, spare []float64 } // of the last vector but one, and of the last, to all before them and to itself

// level is the level of a vector that has just been made orthogonal.
const level = 1e-15

// next adds the vector that follows row m of t and has the length beta, and returns the largest level. noise is the rounding
// error of a product.
func (s *levels) next(t tridiagonal, m int, beta, noise float64) (largest float64) {
	w := append(s.spare[:0], make([]float64, m+2)...)
	for k := range m {
		e := t.beta[k]*s.now[k+1] + (t.alpha[k]-t.alpha[m])*s.now[k] - t.beta[m-1]*s.before[k]
		if k > 0 {
			e += t.beta[k-1] * s.now[k-1]
		}
		w[k] = (e + math.Copysign(noise, e)) / beta
		largest = max(largest, math.Abs(w[k]))
	}
	w[m], w[m+1] = level, 1
	s.before, s.now, s.spare = s.now, w, s.before
	return largest
}

// reset states that the last vector, v[m], is orthogonal to all before it.
func (s *levels) reset(m int) {
	s.now = append(s.now[:0], make([]float64, m+1)...)
	for k := range m {
		s.now[k] = level
	}
	s.now[m] = 1
}
