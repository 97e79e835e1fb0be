package coarsen

import (
	"math"

	"github.com/msrep-go/msrep/internal/mem"
)

const (
	// lanczosSteps is the number of products with A for a bound.
	lanczosSteps = 8
	// margin allows for the error of the bound after so few steps: up to 7 % in elasticity.
	margin = 1.1
	// Gershgorin's bound is sharp for difference stencils along axes: it is 2, and rows are short.
	sharpBound = 2.01
	sharpRow   = 8
)

// spectralBound returns a bound of the absolute eigenvalues of D^-1 A: Gershgorin's if that is sharp or A is unsymmetric, else
// the smaller of Gershgorin's and lanczosBound.
func (s *setup) spectralBound() float64 {
	bound := s.rowSumBound()
	if s.unsymmetric || bound <= sharpBound && s.over.Entries <= sharpRow*int64(s.over.Rows) {
		return bound
	}
	return min(bound, margin*s.lanczosBound(lanczosSteps))
}

// rowSumBound returns the largest row sum of |D^-1 A| in all processes (Gershgorin's theorem).
func (s *setup) rowSumBound() float64 {
	if s.over.Max != nil {
		return s.over.Max(s.rowSum)
	}
	return s.rowSum
}

// lanczosBound returns a bound of the eigenvalues of D^-1 A for a symmetric A whose diagonal has one sign: the largest Ritz
// value after a few Lanczos steps in the inner product x'|D|y, plus the norm of its residual. The first vector is fixed and
// pseudorandom, so an eigenvalue above the bound is possible but unlikely. Source: Y. Zhou,
// R.-C. Li, "Bounding the spectrum of large Hermitian matrices", Linear Algebra and its Applications 435 (2011).
func (s *setup) lanczosBound(steps int) float64 {
	a, n := s.a, s.a.Rows
	// v and old are the last two basis vectors, not divided by their lengths.
	v, old, w := mem.Make[float64](n), mem.Make[float64](n), mem.Make[float64](n)
	length := math.Sqrt(s.sum(func(lo, hi int) (sum float64) {
		for i := lo; i < hi; i++ {
			w[i] = noise(s.over.First + i - s.over.Lo)
			sum += math.Abs(s.diagonal[i]) * w[i] * w[i]
		}
		return sum
	}))
	oldLength := 1.0
	var alpha, beta []float64 // beta[k] couples steps k and k+1
	for len(alpha) < steps && length > 0 {
		v, old, w = w, v, old
		if s.over.Fetch != nil {
			s.over.Fetch(v)
		}
		inverse, last := 1/length, 0.0
		if len(beta) > 0 {
			last = beta[len(beta)-1] / oldLength
		}
		product := inverse * s.sum(func(lo, hi int) (sum float64) {
			for i := lo; i < hi; i++ {
				row := 0.0
				from := a.RowPtr[i]
				val := a.Val[from:a.RowPtr[i+1]]
				for k, j := range a.ColIdx[from:a.RowPtr[i+1]] {
					row += val[k] * v[j]
				}
				w[i] = s.inverse[i]*row*inverse - last*old[i]
				sum += math.Abs(s.diagonal[i]) * w[i] * v[i]
			}
			return sum
		})
		oldLength = length
		length = math.Sqrt(s.sum(func(lo, hi int) (sum float64) {
			for i := lo; i < hi; i++ {
				w[i] -= product * inverse * v[i]
				sum += math.Abs(s.diagonal[i]) * w[i] * w[i]
			}
			return sum
		}))
		alpha, beta = append(alpha, product), append(beta, length)
		if !(length > 1e-10*math.Abs(product)) {
			break
		}
	}
	return ritzBound(alpha, beta)
}

// ritzBound returns the largest eigenvalue of the tridiagonal matrix with alpha on the diagonal and beta beside it, plus
// |beta_m z_m|, where z is its unit eigenvector of length m = len(alpha).
func ritzBound(alpha, beta []float64) float64 {
	m := len(alpha)
	if m == 0 {
		return 0
	}
	low, high := math.Inf(-1), math.Inf(-1)
	for k, d := range alpha {
		radius := 0.0
		if k > 0 {
			radius += beta[k-1]
		}
		if k < m-1 {
			radius += beta[k]
		}
		low, high = max(low, d), max(high, d+radius)
	}
	for range 60 { // bisection: are all eigenvalues below middle?
		middle := (low + high) / 2
		pivot, below := 1.0, true
		for k, d := range alpha {
			couple := 0.0
			if k > 0 {
				couple = beta[k-1] * beta[k-1] / pivot
			}
			pivot = middle - d - couple
			if !(pivot > 0) {
				below = false
				break
			}
		}
		if below {
			high = middle
		} else {
			low = middle
		}
	}
	z, before, sum := 1.0, 0.0, 1.0
	for k := range m - 1 {
		next := (high - alpha[k]) * z
		if k > 0 {
			next -= beta[k-1] * before
		}
		before, z = z, next/beta[k]
		sum += z * z
	}
	return high + beta[m-1]*math.Abs(z)/math.Sqrt(sum)
}

// noise returns a pseudorandom number in [-1, 1) for an index.
func noise(i int) float64 {
	x := uint64(i+1) * 0x9e3779b97f4a7c15
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	return float64(int64(x)) / (1 << 63)
}
