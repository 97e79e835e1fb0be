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

// found states that value is v'Av for the unit vector v.
func (r *run) found(v space.Vector, value float64) {
	if r.ritz == nil {
		r.ritz = map[space.Vector]float64{}
	}
	r.ritz[v] = value
}

// quotients returns v'Av for each unit vector v that a search has found.
func (r *run) quotients(v []space.Vector) ([]float64, error) {
	w := r.take(1)[0]
	defer r.give(w)
	out := make([]float64, len(v))
	for i, v := range v {
		if value, ok := r.ritz[v]; ok && !r.relative {
			out[i] = value
			continue
		}
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
		ends = []end{{-1, -edge + 2*r.limit(edge), math.Inf(-1)}}
	case Magnitude:
		ends = []end{{1, beyond, math.Inf(-1)}, {-1, beyond, math.Inf(-1)}}
	default:
		ends = []end{{1, edge + 2*r.limit(edge), math.Inf(-1)}}
	}
	var alpha, beta []float64
	every, most, due, look := 1, 8, 0, 7 // steps between those that remove parts of the vectors found, which grow meanwhile
	for k := 0; r.iterations < r.opt.MaxIter && k < 2*r.n; k++ {
		r.apply(now, next)
		r.iterations++
		a := r.Dot(now, next)
		h, near := []float64{a}, []space.Vector{now}
		if k > 0 {
			h, near = append(h, beta[k-1]), append(near, before)
		}
		b := math.Sqrt(r.Combine(-1, h, near, next))
		if k >= due || b <= 1e-6*r.norm {
			g := r.Inner(found, []space.Vector{next})[0]
			b = math.Sqrt(r.Combine(-1, g, found, next))
			switch part := space.LargestOf(g); {
			case part > 1e-6*r.norm:
				every = max(every/2, 1)
				most = every
			case part < 1e-8*r.norm:
				every = min(2*every, most)
			}
			due = k + every
		}
		if err := r.Failed(); err != nil {
			return false, err
		}
		alpha, beta = append(alpha, a), append(beta, b)
		settled := b <= tiny*r.norm
		if k == look || settled {
			look += max(8, k/8)
			if err := r.Ended(); err != nil {
				return false, err
			}
			all := true
			for i := range ends {
				beyond, done := ends[i].look(alpha, beta, max(r.limit(edge), tiny*r.norm))
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

// end is an end of the spectrum: the largest eigenvalue of sign*T, at least least, and the value above which one is missing.
type end struct{ sign, edge, least float64 }

// look computes the largest eigenvalue of sign*T for a tridiagonal matrix. beyond reports that it is above the edge, and
// settled that it has converged to a number below: its residual is at most least, or a tenth of its distance to the edge.
func (e *end) look(alpha, beta []float64, least float64) (beyond, settled bool) {
	m := len(alpha)
	if anyAbove(e.edge, e.sign, alpha, beta) {
		return true, true
	}
	theta := e.largest(alpha, beta)
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

// largest returns the largest eigenvalue of sign*T, which is not above the edge, for a tridiagonal T with alpha on and beta
// beside the diagonal, by bisection: the number of positive pivots of sign*T - x is that of the eigenvalues above x. It does
// not decrease when T gets another row.
func (e *end) largest(alpha, beta []float64) float64 {
	hi := math.Inf(-1)
	for i, a := range alpha {
		radius := 0.0
		if i > 0 {
			radius += math.Abs(beta[i-1])
		}
		if i < len(alpha)-1 {
			radius += math.Abs(beta[i])
		}
		e.least, hi = max(e.least, e.sign*a), max(hi, e.sign*a+radius)
	}
	hi = min(hi, e.edge)
	for range 60 {
		x := e.least + (hi-e.least)/2
		if x <= e.least || x >= hi || hi-e.least < 1e-10*(e.edge-hi) {
			break
		}
		if anyAbove(x, e.sign, alpha, beta) {
			e.least = x
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
