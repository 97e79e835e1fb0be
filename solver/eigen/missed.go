package eigen

import (
	"math"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// Lanczos from one vector finds one copy of a multiple eigenvalue in exact arithmetic; others come from rounding errors, if
// at all. completed therefore looks for what is missing in the space orthogonal to the vectors found so far.

// search finds count vectors, from the vector start on, that are orthogonal to those found.
type search func(count int, found []space.Vector, start space.Vector) ([]space.Vector, error)

// purified returns the vectors found, and replaces those whose residuals are above the tolerance. Where one eigenvalue of an
// inverse is far larger than the others, the rounding errors of its products spoil the vectors of the others; in the space
// orthogonal to its vector they are small.
func (r *run) purified(found []space.Vector, more search) ([]space.Vector, error) {
	w := r.take(1)[0]
	defer func() { r.give(w) }()
	for range 3 {
		var good []space.Vector
		for _, v := range found {
			r.apply(v, w)
			value := r.Dot(v, w)
			if math.Sqrt(r.Axpy(-value, v, w)) <= 5*r.limit(value) {
				good = append(good, v)
			}
		}
		start := r.take(1)[0]
		if len(good) == 0 || len(good) == len(found) || !r.random(start, good) {
			break
		}
		count := len(found) - len(good)
		rest, err := more(count, good, start)
		if err != nil || len(rest) < count {
			return found, err
		}
		found = append(good, rest...)
	}
	return found, r.Failed()
}

// completed returns the Count best of the vectors found and of those that the search for missed copies finds. The run ends
// with the error of a search that gives up.
func (r *run) completed(found []space.Vector, more search) ([]space.Vector, int, error) {
	copies := 0
	for len(found) < r.n {
		values, err := r.quotients(found)
		if err != nil {
			return nil, copies, err
		}
		order := r.opt.Which.order(values)
		edge := values[order[r.opt.Count-1]]
		missed, err := r.misses(found, edge)
		if err != nil || !missed {
			return r.best(found, order), copies, err
		}
		start := r.take(1)[0]
		if !r.random(start, found) {
			return r.best(found, order), copies, r.Failed()
		}
		count := min(1+r.opt.Count/4, r.n-len(found)) // others are often missing where one is
		rest, gaveUp := more(count, found, start)
		if rest == nil {
			return r.best(found, order), copies, gaveUp
		}
		found = append(found, rest...)
		if gaveUp != nil {
			return r.best(found, order), copies, gaveUp
		}
		if values, err = r.quotients(found); err != nil {
			return nil, copies, err
		}
		order = r.opt.Which.order(values)
		fresh := 0
		for _, k := range order[:r.opt.Count] {
			if k >= len(found)-len(rest) {
				fresh++
			}
		}
		if copies += fresh; fresh == 0 {
			return r.best(found, order), copies, nil
		}
		found = r.best(found, order)
	}
	return found, copies, nil
}

// best returns the Count first vectors of an order and gives back the others.
func (r *run) best(found []space.Vector, order []int) []space.Vector {
	out := make([]space.Vector, 0, r.opt.Count)
	for i, k := range order {
		if i < r.opt.Count {
			out = append(out, found[k])
		} else {
			r.give(found[k])
		}
	}
	return out
}

// quotients returns v'Av for each unit vector v.
func (r *run) quotients(v []space.Vector) ([]float64, error) {
	w := r.take(1)[0]
	defer r.give(w)
	out := make([]float64, len(v))
	for i, v := range v {
		r.apply(v, w)
		out[i] = r.Dot(v, w)
	}
	return out, r.Failed()
}

// misses reports whether there is an eigenvalue before edge in the order of the run, in the space orthogonal to the vectors
// found. It runs the Lanczos recurrence from a random vector, and makes its vectors orthogonal to those found but not to
// each other: the extreme eigenvalues of its tridiagonal matrix T converge nevertheless (Paige, "Accuracy and effectiveness
// of the Lanczos algorithm for the symmetric eigenproblem", Linear Algebra Appl. 34, 1980). The search ends when such a
// value is beyond the edge, or when it has converged to another one.
func (r *run) misses(found []space.Vector, edge float64) (bool, error) {
	v := r.take(3)
	defer r.give(v...)
	before, now, next := v[0], v[1], v[2]
	if !r.random(now, found) {
		return false, r.Failed()
	}
	r.Set(0, now, before)
	var ends []end
	beyond := math.Abs(edge) + 2*r.limit(edge)
	switch r.opt.Which {
	case Smallest:
		ends = []end{{sign: -1, edge: -edge + 2*r.limit(edge)}}
	case Magnitude:
		ends = []end{{sign: 1, edge: beyond}, {sign: -1, edge: beyond}}
	default:
		ends = []end{{sign: 1, edge: edge + 2*r.limit(edge)}}
	}
	var alpha, beta []float64
	for k := 0; r.iterations < r.opt.MaxIter && k < 2*r.n; k++ {
		r.apply(now, next)
		r.iterations++
		a := r.Dot(now, next)
		h, near := []float64{a}, []space.Vector{now}
		if k > 0 {
			h, near = append(h, beta[k-1]), append(near, before)
		}
		r.Combine(-1, h, near, next)
		b := r.subtract(found, next)
		if err := r.Failed(); err != nil {
			return false, err
		}
		alpha, beta = append(alpha, a), append(beta, b)
		settled := b <= tiny*r.norm
		if k%8 == 7 || settled {
			if err := r.Ended(); err != nil {
				return false, err
			}
			all := true
			for _, e := range ends {
				beyond, done := e.look(alpha, beta, max(r.limit(edge), tiny*r.norm))
				if beyond {
					return true, nil
				}
				all = all && done
			}
			if all || settled {
				return false, nil
			}
		}
		r.Set(1/b, next, next)
		before, now, next = now, next, before
	}
	return false, nil
}

// end is an end of the spectrum: the largest eigenvalue of sign*T, and the value above which one is missing.
type end struct{ sign, edge float64 }

// look computes the largest eigenvalue of sign*T for a tridiagonal matrix. beyond reports that it is above the edge, and
// settled that it has converged to a number below: its residual is at most least, or a tenth of its distance to the edge.
func (e end) look(alpha, beta []float64, least float64) (beyond, settled bool) {
	m := len(alpha)
	theta := largestOf(e.sign, alpha, beta)
	if theta > e.edge {
		return true, true
	}
	// The eigenvector of theta from its last element up: (sign*T - theta) u = 0.
	last, size := 1.0, 1.0
	above, here := 0.0, 1.0 // u[i+1], u[i]
	for i := m - 1; i > 0; i-- {
		rest := (theta - e.sign*alpha[i]) * here
		if i < m-1 {
			rest -= e.sign * beta[i] * above
		}
		above, here = here, rest/(e.sign*beta[i-1])
		if size += here * here; size > 1e200 {
			last, above, here, size = last*1e-100, above*1e-100, here*1e-100, size*1e-200
		}
	}
	residual := beta[m-1] * last / math.Sqrt(size)
	return false, residual <= max(least, 0.1*(e.edge-theta))
}

// largestOf returns the largest eigenvalue of sign*T for a tridiagonal T with alpha on and beta beside the diagonal, by
// bisection: the number of positive pivots of sign*T - x is that of the eigenvalues above x.
func largestOf(sign float64, alpha, beta []float64) float64 {
	lo, hi := math.Inf(-1), math.Inf(-1)
	for i, a := range alpha {
		radius := 0.0
		if i > 0 {
			radius += math.Abs(beta[i-1])
		}
		if i < len(alpha)-1 {
			radius += math.Abs(beta[i])
		}
		lo, hi = max(lo, sign*a), max(hi, sign*a+radius)
	}
	for range 60 {
		x := lo + (hi-lo)/2
		if x <= lo || x >= hi {
			break
		}
		if anyAbove(x, sign, alpha, beta) {
			lo = x
		} else {
			hi = x
		}
	}
	return hi
}

// anyAbove reports whether sign*T has an eigenvalue above x.
func anyAbove(x, sign float64, alpha, beta []float64) bool {
	pivot := 1.0
	for i, a := range alpha {
		coupling := 0.0
		if i > 0 {
			coupling = beta[i-1] * beta[i-1] / pivot
		}
		if pivot = sign*a - x - coupling; pivot > 0 {
			return true
		}
		if pivot == 0 {
			pivot = -math.SmallestNonzeroFloat64
		}
	}
	return false
}
