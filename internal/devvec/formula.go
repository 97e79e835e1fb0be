package devvec

import (
	"github.com/msrep-go/msrep/kernels"
	"github.com/msrep-go/msrep/sparse"
)

// Compute computes a formula on vectors, in one pass, and returns its sums after it has waited for them; it does not wait
// where the formula has none. The order of numbers and vectors is that of the formula, which states what it computes and
// which vectors may be the same.
func Compute[V sparse.Value](f *kernels.Formula, numbers []V, vs ...*Vector[V]) ([]float64, error) {
	if err := checkFormula(f, len(numbers), vs); err != nil {
		return nil, err
	}
	operation := func(i int, sums kernels.Array[float64]) kernels.Operation {
		return &kernels.Elementwise[V]{Formula: f, Numbers: numbers, Vectors: piecesOf(vs, i), Sums: sums}
	}
	if f.Sums == 0 {
		return nil, vs[0].launch(vs[1:], func(i int) kernels.Operation { return operation(i, kernels.Array[float64]{}) })
	}
	sums := make([]float64, f.Sums)
	return sums, vs[0].reduce(sums, vs[1:], operation)
}

// checkFormula checks the number of arguments of a formula, and that only vectors that may be the same are the same.
func checkFormula[V sparse.Value](f *kernels.Formula, numbers int, vs []*Vector[V]) error {
	if f == nil {
		return sparse.Inputf("formula", "is nil")
	}
	if err := f.Check(numbers, len(vs), f.Sums); err != nil {
		return sparse.Inputf("formula", "%v", err)
	}
	for i, v := range vs {
		for j := range i {
			if v != nil && v == vs[j] && !f.MayShare(i, j) {
				return sparse.Inputf("vector", "is the result and also another argument: use another vector for the result")
			}
		}
	}
	return nil
}
