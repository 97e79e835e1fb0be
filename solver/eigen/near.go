package eigen

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/sparse"
)

// factors are the methods that factor.LU and factor.Cholesky share.
type factors interface {
	Apply(b, x []float64) error
}

// inverse is the operator sign*A^-1.
type inverse struct {
	n       int
	sign    float64
	factors factors
}

func (f inverse) Dims() (rows, cols int) { return f.n, f.n }

// SpMV computes y = alpha*op(A^-1)*x + beta*y.
func (f inverse) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	z := y
	if beta != 0 {
		z = make([]float64, f.n)
	}
	apply := f.factors.Apply
	if op == msrep.Trans {
		if lu, ok := f.factors.(*factor.LU); ok {
			apply = lu.ApplyTransposed
		}
	}
	var inaccurate *factor.AccuracyError
	if err := apply(x, z); err != nil && !errors.As(err, &inaccurate) { // residuals at the end show the accuracy
		return err
	}
	alpha *= f.sign
	for i, v := range z {
		if beta == 0 {
			y[i] = alpha * v
		} else {
			y[i] = alpha*v + beta*y[i]
		}
	}
	return nil
}

// moves are the distances, relative to the norm, by which Sigma is moved where results with the factors before are
// inaccurate: an eigenvalue that is almost Sigma makes A - Sigma*I almost singular.
var moves = []float64{0, 1e-8, 1e-6}

// near finds the eigenvalues of a that are nearest to opt.Sigma.
func near(ctx context.Context, a *sparse.CSR[float64], opt Options) (res *Result, err error) {
	begin := time.Now()
	inner := opt
	inner.Which, inner.Method = Magnitude, ""
	if err := (&run{n: a.Rows}).check(a.Rows, a.Cols, nil, inner); err != nil {
		return nil, err
	}
	size := cmp.Or(max(normOf(a), math.Abs(opt.Sigma)), 1)
	for _, move := range moves {
		n := shift{a: a, sigma: opt.Sigma - move*size, opt: inner, begin: begin}
		res, err = n.solve(ctx)
		if !inaccurate(err) {
			break
		}
	}
	if res == nil {
		return nil, err
	}
	distances := make([]float64, len(res.Values))
	for i, v := range res.Values {
		distances[i] = -math.Abs(v - opt.Sigma)
	}
	res.permute(Largest.order(distances))
	return res, err
}

// inaccurate reports whether err says that factors of a singular matrix do not exist or are inaccurate.
func inaccurate(err error) bool {
	var singular *factor.SingularError
	return errors.As(err, &singular) || errors.Is(err, solver.ErrStagnation) || errors.Is(err, solver.ErrBreakdown)
}

// shift is a search for eigenvalues near sigma.
type shift struct {
	a     *sparse.CSR[float64]
	sigma float64
	opt   Options
	begin time.Time
}

// solve finds the eigenvalues near sigma with factors of A - sigma*I.
func (s *shift) solve(ctx context.Context) (*Result, error) {
	f, err := factorsOf(ctx, shifted(s.a, s.sigma))
	if err != nil {
		return nil, err
	}
	factored := time.Since(s.begin)
	r, err := newRun(ctx, MethodLanczos, f, nil, s.opt)
	if err != nil {
		return nil, err
	}
	r.relative = true
	res, gaveUp := r.lanczos()
	if res == nil {
		return nil, gaveUp
	}
	res.Norm, res.Converged = normOf(s.a), true
	res.Timing.Precond, res.Timing.Products = factored+res.Timing.Products, 0
	y := make([]float64, s.a.Rows)
	for i, v := range res.Vectors {
		res.Values[i] = s.sigma + 1/res.Values[i]
		multiply(s.a, v, y)
		quotient := vec.Dot(v, y)
		res.Residuals[i] = misfit(y, res.Values[i], v)
		if other := misfit(y, quotient, v); !(other >= 0.5*res.Residuals[i]) {
			res.Values[i], res.Residuals[i] = quotient, other
		}
		res.Converged = res.Converged && res.Residuals[i] <= max(r.opt.Tol, 1e-13)*max(res.Norm, math.Abs(s.sigma))
	}
	if errors.Is(gaveUp, solver.ErrStagnation) && res.Converged {
		gaveUp = nil // the residuals of the inverse do not count
	}
	return res, res.accurate(gaveUp)
}

// factorsOf returns the inverse of a symmetric matrix.
func factorsOf(ctx context.Context, a *sparse.CSR[float64]) (inverse, error) {
	for _, sign := range []float64{1, -1} {
		if !signed(a, sign) {
			continue
		}
		b := *probe.Mean(a)
		for k := range b.Val {
			b.Val[k] *= sign
		}
		f, err := factor.NewCholesky(ctx, &b, factor.CholeskyOptions{})
		if err == nil {
			return inverse{a.Rows, sign, f}, nil
		}
		if !errors.Is(err, factor.ErrNotPositiveDefinite) {
			return inverse{}, err
		}
	}
	f, err := factor.NewLU(ctx, a, factor.LUOptions{})
	return inverse{a.Rows, 1, f}, err
}

// signed reports whether all elements of the diagonal, times sign, are positive.
func signed(a *sparse.CSR[float64], sign float64) bool {
	for i := range a.Rows {
		positive := false
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			positive = positive || int(a.ColIdx[k]) == i && sign*a.Val[k] > 0
		}
		if !positive {
			return false
		}
	}
	return true
}

// shifted returns A - sigma*I for a matrix with sorted rows.
func shifted(a *sparse.CSR[float64], sigma float64) *sparse.CSR[float64] {
	n := a.Rows
	b := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, n+1)}
	b.ColIdx, b.Val = make([]int32, 0, len(a.ColIdx)+n), make([]float64, 0, len(a.Val)+n)
	for i := range n {
		placed := false
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			j, v := int(a.ColIdx[k]), a.Val[k]
			if !placed && j >= i {
				placed = true
				if j > i {
					b.ColIdx, b.Val = append(b.ColIdx, int32(i)), append(b.Val, -sigma)
				} else {
					v -= sigma
				}
			}
			b.ColIdx, b.Val = append(b.ColIdx, int32(j)), append(b.Val, v)
		}
		if !placed {
			b.ColIdx, b.Val = append(b.ColIdx, int32(i)), append(b.Val, -sigma)
		}
		b.RowPtr[i+1] = int64(len(b.ColIdx))
	}
	return b
}

// normOf returns an estimate of the 2-norm of a matrix: at most the norm, and seldom less than half of it. It takes a few
// steps of the power method with A'A.
func normOf(a *sparse.CSR[float64]) float64 {
	x, y := make([]float64, a.Cols), make([]float64, a.Rows)
	longest, at := 0.0, 0
	for i := range a.Rows {
		length := 0.0
		for _, v := range a.Val[a.RowPtr[i]:a.RowPtr[i+1]] {
			length += v * v
		}
		if length > longest {
			longest, at = length, i
		}
	}
	norm := math.Sqrt(longest)
	if !(norm > 0 && norm <= math.MaxFloat64) {
		return norm
	}
	y[at] = 1 // A'y is the longest row
	for range 8 {
		clear(x)
		for i, v := range y {
			for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
				x[a.ColIdx[k]] += a.Val[k] * v
			}
		}
		vec.ScaleTo(1/math.Sqrt(vec.Dot(x, x)), x, x)
		multiply(a, x, y)
		length := math.Sqrt(vec.Dot(y, y))
		norm = max(norm, length)
		vec.ScaleTo(1/length, y, y)
	}
	return norm
}

// multiply computes y = A x.
func multiply(a *sparse.CSR[float64], x, y []float64) {
	for i := range y {
		sum := 0.0
		for k := a.RowPtr[i]; k < a.RowPtr[i+1]; k++ {
			sum += a.Val[k] * x[a.ColIdx[k]]
		}
		y[i] = sum
	}
}

// misfit returns |y - a*x|.
func misfit(y []float64, a float64, x []float64) float64 {
	sum := 0.0
	for i, v := range y {
		d := v - a*x[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}
