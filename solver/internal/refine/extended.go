package refine

import (
	"context"
	"math"
	"slices"

	"github.com/msrep-go/msrep/internal/par"
	"github.com/msrep-go/msrep/sparse"
)

// Residual returns |b - A x|/|b| computed with twice the digits; norm is |b|.
func Residual(a *sparse.CSR[float64], b, x []float64, norm float64) float64 {
	s := System{A: a, B: b, Norm: norm}
	return s.extendedMisfit(x, make([]float64, len(x)), make([]float64, len(b)))
}

// extend checks x with twice the digits and, if its residual is above the tolerance, continues with x = high + low in twice
// the digits. r and z are working memory.
func (s *System) extend(ctx context.Context, x, r, z []float64, out Outcome) (Outcome, error) {
	high, low := slices.Clone(x), make([]float64, len(x))
	if out.Residual = s.extendedMisfit(high, low, r); out.Residual <= s.Tol {
		return out, nil
	}
	exact, err := s.extendedSolve(ctx, high, low, r, z, &out)
	if err != nil {
		return out, err
	}
	s.keep(high, x, r, z, &out)
	out.Rounded = exact < out.Residual/4
	if !out.Rounded || out.Residual <= s.Tol || len(x) > mostRounded {
		return out, nil
	}
	if err := s.round(ctx, high, low); err != nil {
		return out, err
	}
	s.keep(high, x, r, z, &out)
	return out, nil
}

// extendedSolve improves the solution high + low of A x = b until its relative residual no longer halves, and returns that
// residual.
func (s *System) extendedSolve(ctx context.Context, high, low, r, z []float64, out *Outcome) (float64, error) {
	last := math.Inf(1)
	for range extendedSteps {
		rel := s.extendedMisfit(high, low, r)
		if !(rel < last/2) {
			break
		}
		last = rel
		if err := ctx.Err(); err != nil {
			return last, err
		}
		if err := s.Apply(r, z); err != nil {
			return last, err
		}
		out.Steps++
		for i, e := range z {
			high[i], low[i] = twoSum(high[i], low[i]+e)
		}
	}
	return last, nil
}

// keep copies high, the solution rounded to float64, to x if its residual is less than out.Residual. r and z are working
// memory.
func (s *System) keep(high, x, r, z []float64, out *Outcome) {
	clear(z)
	if rel := s.extendedMisfit(high, z, r); rel < out.Residual {
		copy(x, high)
		out.Residual = rel
		s.progress(*out)
	}
}

// extendedMisfit computes r = b - A (high + low) with products and sums of twice the digits, rounded at the end, and
// returns |r|/|b|.
func (s *System) extendedMisfit(high, low, r []float64) float64 {
	a := s.A
	par.Range(int64(len(r)), 1+1<<16*int64(len(r))/(1+a.NNZ()), func(first, end int64) {
		for i := first; i < end; i++ {
			sum, rest := s.B[i], 0.0
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				v, j := -a.Val[k], a.ColIdx[k]
				p := float64(v * high[j])
				e := math.FMA(v, high[j], -p)
				var t float64
				sum, t = twoSum(sum, p)
				rest += t + math.FMA(v, low[j], e)
			}
			r[i] = sum + rest
		}
	})
	return s.relative(r)
}

// twoSum returns a + b as a rounded sum and its error (Knuth).
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	t := sum - a
	return sum, (a - (sum - t)) + (b - t)
}
