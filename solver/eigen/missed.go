package eigen

import (
	"math"

	"github.com/msrep-go/msrep/solver/internal/space"
)

// Lanczos from one vector finds one copy of a multiple eigenvalue in exact arithmetic; others come from rounding errors, if
// at all. completed therefore looks for what is missing in the space orthogonal to the vectors found so far.

// search finds count vectors, from the vector start on, that are orthogonal to those found; or fewer, if no other has a value past
// the edge.
type search func(count int, found []space.Vector, start space.Vector, past *edge) ([]space.Vector, error)

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
		rest, err := more(count, good, start, nil)
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
		last := r.edgeAt(values[order[r.opt.Count-1]])
		missed, err := r.misses(found, last)
		if err != nil || !missed {
			return r.best(found, order), copies, err
		}
		start := r.take(1)[0]
		if !r.random(start, found) {
			return r.best(found, order), copies, r.Failed()
		}
		count := min(1+r.opt.Count/4, r.n-len(found)) // others are often missing where one is
		rest, gaveUp := more(count, found, start, &last)
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

// edge is the values from which on an eigenvalue in the space orthogonal to the vectors found was missed: value and those after it
// in the order of the run are not better, and rounding errors of up to margin do not count. An end of a spectrum has settled if
// its residual is at most least, or a tenth of its distance to the edge.
type edge struct{ value, margin, least float64 }

func (r *run) edgeAt(value float64) edge {
	return edge{value, 2 * r.limit(value), max(r.limit(value), tiny*r.norm)}
}

// ends returns the ends of the spectrum at which there may be better values, and the bound of sign*value at each.
func (e edge) ends(w Which) []end {
	switch at := math.Abs(e.value) + e.margin; w {
	case Smallest:
		return []end{{-1, -e.value + e.margin, math.Inf(-1)}}
	case Magnitude:
		return []end{{1, at, math.Inf(-1)}, {-1, at, math.Inf(-1)}}
	}
	return []end{{1, e.value + e.margin, math.Inf(-1)}}
}

// wanted returns how many Ritz values are past the edge, or all where an end of the others has not settled: there may be more then.
// residual is that of value k.
func (e edge) wanted(w Which, values []float64, residual func(k int) float64) (count int) {
	for _, end := range e.ends(w) {
		first := -1
		for k, v := range values {
			switch v *= end.sign; {
			case v > end.edge:
				count++
			case first < 0 || v > end.sign*values[first]:
				first = k
			}
		}
		if first >= 0 && residual(first) > max(e.least, 0.1*(end.edge-end.sign*values[first])) {
			return len(values)
		}
	}
	return count
}

// misses reports whether there is an eigenvalue past the edge, in the space orthogonal to the vectors
// found. It runs the Lanczos recurrence from a random vector, and makes its vectors orthogonal to those found but not to
// each other: the extreme eigenvalues of its tridiagonal matrix T converge nevertheless (Paige, "Accuracy and effectiveness
// of the Lanczos algorithm for the symmetric eigenproblem", Linear Algebra Appl. 34, 1980). The search ends when such a
// value is beyond the edge, or when it has converged to another one.
func (r *run) misses(found []space.Vector, past edge) (bool, error) {
	v := r.take(3)
	defer r.give(v...)
	before, now, next := v[0], v[1], v[2]
	if !r.random(now, found) {
		return false, r.Failed()
	}
	r.Set(0, now, before)
	ends := past.ends(r.opt.Which)
	var alpha, beta []float64
	every, most, due, look := 1, 8, 0, 7 // steps between those that remove parts of the vectors found, which grow meanwhile
	low := math.Inf(1)                   // the smallest part: vectors found are accurate to the tolerance only
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
			g, h := r.Project(found, now, next) // of both, or those of now would grow in all vectors after it
			h[len(found)] = 0
			b = math.Sqrt(r.SubtractProjection(g, h, found, now, next))
			switch part := space.LargestOf(h); {
			case part > 1e-7*r.norm:
				every = max(every/2, 1)
				most = every
			default:
				if low = min(low, part); part*part <= 1e-7*r.norm*low { // twice as many steps square the growth
					every = min(2*every, most)
				}
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
				beyond, done := ends[i].look(alpha, beta, past.least)
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
