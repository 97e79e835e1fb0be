// Package reference computes y = alpha*op(A)*x + beta*y in a few plain lines, with an
// error bound for any other way to compute y. Tests check every kernel, format and code
// path against it.
package reference

import (
	"math"

	"github.com/msrep-go/msrep/sparse"
)

// Product is a result with the scale of its rounding errors.
type Product struct {
	Y []float64 // alpha*op(A)*x + beta*y
	// Scale is |alpha|*|op(A)|*|x| + |beta|*|y|, element by element. Rounding errors
	// are proportional to it.
	Scale []float64
	// Terms is the number of products in each element.
	Terms []int
}

// Multiply computes alpha*op(A)*x + beta*y with compensated sums: each element is as
// accurate as in twice the precision, rounded once. It reads the entries in coordinate
// form. beta = 0 does not read y; alpha = 0 reads neither A nor x.
func Multiply[V sparse.Value](transpose bool, alpha V, a sparse.Matrix[V], x []V, beta V, y []V) Product {
	coo := sparse.ToCOO(a)
	if transpose {
		coo = coo.Transpose()
	}
	m := coo.Rows
	p := Product{make([]float64, m), make([]float64, m), make([]int, m)}
	low := make([]float64, m)
	add := func(i int, a, b, c float64) {
		ab := a * b
		t := ab * c
		// e is the rounding error of both multiplications.
		e := math.FMA(a, b, -ab)*c + math.FMA(ab, c, -t)
		s := p.Y[i] + t
		v := s - p.Y[i]
		e += (p.Y[i] - (s - v)) + (t - v)
		p.Y[i] = s
		low[i] += e
		p.Scale[i] += math.Abs(t)
		p.Terms[i]++
	}
	if beta != 0 {
		for i := range m {
			add(i, float64(beta), float64(y[i]), 1)
		}
	}
	if alpha != 0 {
		for k, v := range coo.Val {
			add(int(coo.RowIdx[k]), float64(alpha), float64(v), float64(x[coo.ColIdx[k]]))
		}
	}
	for i := range p.Y {
		if !math.IsNaN(low[i]) && !math.IsInf(p.Y[i], 0) {
			p.Y[i] += low[i]
		}
	}
	return p
}

// Check returns the index of an element of got that is further from the reference than
// (terms+4)*eps*scale, or -1; eps is the machine epsilon of V. A NaN must match a
// NaN, and an infinity the same infinity.
func Check[V sparse.Value](got []V, want Product) int {
	if len(got) != len(want.Y) {
		return len(want.Y)
	}
	eps := math.Ldexp(1, -52)
	if _, single := any(*new(V)).(float32); single {
		eps = math.Ldexp(1, -23)
	}
	for i, g := range got {
		w, y := want.Y[i], float64(g)
		if math.IsNaN(w) || math.IsInf(w, 0) {
			if math.IsNaN(w) != math.IsNaN(y) || math.IsInf(w, 1) != math.IsInf(y, 1) || math.IsInf(w, -1) != math.IsInf(y, -1) {
				return i
			}
			continue
		}
		if !(math.Abs(y-w) <= float64(want.Terms[i]+4)*eps*want.Scale[i]) {
			return i
		}
	}
	return -1
}
