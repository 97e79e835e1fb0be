package eigen

import (
	"cmp"
	"context"
	"errors"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/vec"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver"
	"github.com/msrep-go/msrep/solver/factor"
	"github.com/msrep-go/msrep/solver/internal/probe"
	"github.com/msrep-go/msrep/sparse"
)

// SolveSingular finds singular values of any matrix: the largest by Singular with a plan of the matrix on the devices of sys,
// and the smallest with factors.
//
// The smallest singular values of a square matrix are the inverses of the largest of A^-1, which Singular finds with factors
// of NewLU, without squaring. For a singular matrix, and one with more rows than columns, Symmetric finds the largest
// eigenvalues of (A'A)^-1, by solving
//
//	[ t I   A ] [ r ]   [  0 ]
//	[  A'   0 ] [ x ] = [ -b ]
//
// with factors of this matrix, where t is about |A|, and a small multiple of -I replaces the block 0 where A'A is singular. For
// one with more columns it takes A'. Factors take much more memory than the matrix. Each residual is computed from the result; where one is above the tolerance, the error wraps
// solver.ErrStagnation.
//
// A matrix that is not valid or has values that are not finite is a *sparse.InputError. Other errors are those of Singular, of
// factors and of devices.
func SolveSingular(ctx context.Context, sys *msrep.System, a sparse.Matrix[float64], opt Options) (*SVD, error) {
	begin := time.Now()
	if err := cmp.Or(given.Context(ctx), given.Check("system", sys, "matrix", a)); err != nil {
		return nil, err
	}
	m, err := probe.Tidy(a)
	if err != nil {
		return nil, err
	}
	check := opt
	if check.Which == Smallest {
		check.Which = Largest
	}
	if err := (&run{n: min(m.Rows, m.Cols)}).checkSingular(m.Rows, m.Cols, check); err != nil { // before the work for a plan or factors
		return nil, err
	}
	m, exp := inRange(m)
	var res *SVD
	switch {
	case opt.Which != Smallest:
		res, err = singularOfPlan(ctx, sys, m, opt)
	case m.Rows < m.Cols:
		check.Start = nil
		res, err = smallest(ctx, sparse.ToCSR[float64](m.Transpose()), check)
		if res != nil {
			res.U, res.V = res.V, res.U
		}
	default:
		res, err = smallest(ctx, m, check)
	}
	if res != nil {
		res.Timing = since(res.Timing, begin)
		if e := res.multiply(res.Values, exp); e != nil {
			return nil, e
		}
	}
	return res, err
}

// singularOfPlan finds the largest singular values with a plan of the matrix.
func singularOfPlan(ctx context.Context, sys *msrep.System, a *sparse.CSR[float64], opt Options) (res *SVD, err error) {
	begin := time.Now()
	const expected = products / 2
	plan, err := msrep.NewPlan(ctx, sys, a, msrep.PlanOptions{Deterministic: opt.Deterministic, SkipValidation: true,
		Storage: storage(sys, a, opt, true), Expected: msrep.Expected{Products: expected, Transposed: expected}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	planned := time.Since(begin)
	res, err = Singular(ctx, plan, opt)
	if res != nil {
		res.Timing.Plan = planned
	}
	return res, err
}

// smallest finds the smallest singular values of a matrix with at least as many rows as columns. opt.Which is Largest.
func smallest(ctx context.Context, a *sparse.CSR[float64], opt Options) (res *SVD, err error) {
	square := a.Rows == a.Cols
	if square {
		res, err = inverseSingular(ctx, a, opt)
	}
	if !square || inaccurate(err) {
		for _, move := range []float64{0, 1e-12, 1e-10, 1e-8} {
			if res, err = normalSingular(ctx, a, move, opt); !inaccurate(err) {
				break
			}
		}
	}
	if res != nil {
		negative := make([]float64, len(res.Values))
		for i, v := range res.Values {
			negative[i] = -v
		}
		res.permute(Largest.order(negative))
	}
	return res, err
}

// inverseSingular finds the smallest singular values of a square matrix as the inverses of the largest of A^-1.
func inverseSingular(ctx context.Context, a *sparse.CSR[float64], opt Options) (*SVD, error) {
	begin := time.Now()
	f, err := factor.NewLU(ctx, a, factor.LUOptions{})
	if err != nil {
		return nil, err
	}
	factored := time.Since(begin)
	g, err := newBidiagonal(ctx, inverse{a.Rows, 1, f}, opt)
	if err != nil {
		return nil, err
	}
	g.relative = true
	res, gaveUp := g.solve()
	if res == nil {
		return nil, gaveUp
	}
	res.U, res.V = res.V, res.U
	res.Timing.Precond, res.Timing.Products = factored+res.Timing.Products, 0
	return res, res.measure(a, g.opt.Tol, gaveUp)
}

// measure computes the values and residuals of unit vectors. gaveUp is the error of the search.
func (res *SVD) measure(a *sparse.CSR[float64], tol float64, gaveUp error) error {
	transposed := sparse.ToCSR[float64](a.Transpose())
	u, v := make([]float64, a.Rows), make([]float64, a.Cols)
	res.Norm, res.Converged = normOf(a), true
	for i := range res.Values {
		multiply(a, res.V[i], u)
		multiply(transposed, res.U[i], v)
		value := vec.Dot(u, res.U[i])
		if value < 0 {
			value = -value
			vec.ScaleTo(-1, res.U[i], res.U[i])
			vec.ScaleTo(-1, v, v)
		}
		res.Values[i], res.Residuals[i] = value, max(misfit(u, value, res.U[i]), misfit(v, value, res.V[i]))
		res.Converged = res.Converged && res.Residuals[i] <= max(tol, 1e-13)*res.Norm
	}
	if errors.Is(gaveUp, solver.ErrStagnation) && res.Converged {
		gaveUp = nil // the residuals of the inverse do not count
	}
	return res.accurate(gaveUp)
}

// normal is the operator (A'A + t*d*I)^-1 by factors of [t*I A; A' -d*I], for A of rows x cols.
type normal struct {
	transposed *sparse.CSR[float64] // A'
	rows, cols int
	t, d       float64
	factors    factors
	b, x       []float64 // of rows + cols elements
}

func (f *normal) Dims() (rows, cols int) { return f.cols, f.cols }

// SpMV computes y = alpha*(A'A + t*d*I)^-1*x + beta*y.
func (f *normal) SpMV(ctx context.Context, _ msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	clear(f.b[:f.rows])
	for i, v := range x {
		f.b[f.rows+i] = -v
	}
	if err := (inverse{f.rows + f.cols, 1, f.factors}).SpMV(ctx, msrep.NoTrans, 1, f.b, 0, f.x); err != nil {
		return err
	}
	alpha /= f.t
	for i, v := range f.x[f.rows:] {
		if beta == 0 {
			y[i] = alpha * v
		} else {
			y[i] = alpha*v + beta*y[i]
		}
	}
	return nil
}

// newNormal computes the factors. move is d/|A|.
func newNormal(ctx context.Context, a *sparse.CSR[float64], move float64) (*normal, error) {
	size := cmp.Or(normOf(a), 1)
	f := &normal{transposed: sparse.ToCSR[float64](a.Transpose()), rows: a.Rows, cols: a.Cols, t: size, d: move * size}
	n := a.Rows + a.Cols
	if n > math.MaxInt32 {
		return nil, sparse.Inputf("matrix", "%d x %d: factors for its smallest singular values have %d rows, more than %d", a.Rows, a.Cols, n, math.MaxInt32)
	}
	k := &sparse.CSR[float64]{Rows: n, Cols: n, RowPtr: make([]int64, 1, n+1)}
	add := func(j int, v float64) { k.ColIdx, k.Val = append(k.ColIdx, int32(j)), append(k.Val, v) }
	for i := range a.Rows {
		add(i, f.t)
		for e := a.RowPtr[i]; e < a.RowPtr[i+1]; e++ {
			add(a.Rows+int(a.ColIdx[e]), a.Val[e])
		}
		k.RowPtr = append(k.RowPtr, int64(len(k.Val)))
	}
	for i := range a.Cols {
		for e := f.transposed.RowPtr[i]; e < f.transposed.RowPtr[i+1]; e++ {
			add(int(f.transposed.ColIdx[e]), f.transposed.Val[e])
		}
		if f.d > 0 {
			add(a.Rows+i, -f.d)
		}
		k.RowPtr = append(k.RowPtr, int64(len(k.Val)))
	}
	lu, err := factor.NewLU(ctx, k, factor.LUOptions{})
	if err != nil {
		return nil, err
	}
	f.factors, f.b, f.x = lu, make([]float64, n), make([]float64, n)
	return f, nil
}

// normalSingular finds the smallest singular values of a matrix with no fewer rows than columns as those of A'A.
func normalSingular(ctx context.Context, a *sparse.CSR[float64], move float64, opt Options) (*SVD, error) {
	begin := time.Now()
	f, err := newNormal(ctx, a, move)
	if err != nil {
		return nil, err
	}
	factored := time.Since(begin)
	r, err := newRun(ctx, MethodLanczos, f, nil, opt)
	if err != nil {
		return nil, err
	}
	r.relative = true
	pairs, gaveUp := r.lanczos()
	if pairs == nil {
		return nil, gaveUp
	}
	res := &SVD{Values: pairs.Values, V: pairs.Vectors, Info: pairs.Info}
	res.Timing.Precond, res.Timing.Products = factored+res.Timing.Products, 0
	for i, v := range res.V {
		u := make([]float64, a.Rows)
		multiply(a, v, u)
		if !makeOrthogonal(u, res.U, r.opt.Tol*f.t) {
			if err := f.nullVector(ctx, u, res.U, uint64(i), r.opt.Tol); err != nil {
				return nil, err
			}
		}
		res.U = append(res.U, u)
	}
	return res, res.measure(a, r.opt.Tol, gaveUp)
}

// makeOrthogonal makes u a unit vector that is orthogonal to the unit vectors others, or returns false where at most least
// of its length remains.
func makeOrthogonal(u []float64, others [][]float64, least float64) bool {
	for range 2 {
		for _, v := range others {
			vec.Axpy(-vec.Dot(u, v), v, u)
		}
		length := math.Sqrt(vec.Dot(u, u))
		if !(length > least) {
			return false
		}
		vec.ScaleTo(1/length, u, u)
		least = 0
	}
	return true
}

// nullVector sets u to a unit vector with A'u = 0 that is orthogonal to others: the residual of a least squares problem with a
// random right-hand side.
func (f *normal) nullVector(ctx context.Context, u []float64, others [][]float64, seed uint64, tol float64) error {
	state := seed + 1
	for i := range u {
		state = state*6364136223846793005 + 1442695040888963407
		u[i] = float64(int64(state)) * 0x1p-63
	}
	v := make([]float64, f.cols)
	for range mostPasses {
		copy(f.b, u)
		clear(f.b[f.rows:])
		if err := (inverse{f.rows + f.cols, 1, f.factors}).SpMV(ctx, msrep.NoTrans, f.t, f.b, 0, f.x); err != nil {
			return err
		}
		copy(u, f.x[:f.rows])
		makeOrthogonal(u, others, 0)
		if multiply(f.transposed, u, v); math.Sqrt(vec.Dot(v, v)) <= 0.1*tol*f.t {
			break
		}
	}
	return nil
}

// mostPasses limits the solves for a vector u with A'u = 0. Each leaves less of the range of A, but for the singular values
// that are small beside those that d adds.
const mostPasses = 20
