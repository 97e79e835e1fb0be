package eigen

import (
	"math"
	"slices"
)

// better reports whether eigenvalue a comes before b.
func (w Which) better(a, b float64) bool {
	switch w {
	case Smallest:
		return a < b
	case Magnitude:
		return math.Abs(a) > math.Abs(b)
	}
	return a > b
}

// order returns the indices of values, the first of the order before the others. Equal values keep their order.
func (w Which) order(values []float64) []int {
	out := make([]int, len(values))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(i, j int) int {
		switch {
		case w.better(values[i], values[j]):
			return -1
		case w.better(values[j], values[i]):
			return 1
		}
		return 0
	})
	return out
}

// permute puts the pairs of a result into an order: pair order[i] becomes pair i.
func (res *Result) permute(order []int) {
	values, residuals, vectors := slices.Clone(res.Values), slices.Clone(res.Residuals), slices.Clone(res.Vectors)
	for i, k := range order {
		res.Values[i], res.Residuals[i], res.Vectors[i] = values[k], residuals[k], vectors[k]
	}
}
