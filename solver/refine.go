package solver

import (
	"cmp"
	"context"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/solver/internal/space"
	"github.com/msrep-go/msrep/sparse"
)

// Method is an iterative method for A x = b, for example CG, MINRES or GMRES.
type Method func(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error)

// Refine solves A x = b by iterative refinement. F is a matrix that is close to A and faster to multiply by: the
// float32 matrix (see Single), or a plan that reads fewer segments of each value
// (msrep.PlanOptions.Storage.Segments). While the residual r = b - A x is above the tolerance, Refine
//
//	solves F d = r by solveCheap
//	computes x = x + d
//
// opt is for the whole solve; its Precond and Restart are not used. inner is for each solve with F; an inner.Tol of
// 0 means 1e-4.
//
// Result.Iterations counts the refinements, and Result.History holds the residuals computed from x. Progress gets
// the residual that the solve with F reached. Result.Products and Result.Timing include the solves with F. A
// refinement that does not halve the residual ends with ErrStagnation: F is too far from A. A solve with F need
// not converge. Other errors are those of CG. If A is Distributed, F must be Distributed with the same pieces.
func Refine(ctx context.Context, a, f Operator, solveCheap Method, b, x []float64, opt, inner Options) (*Result, error) {
	if given.Nothing(f) || solveCheap == nil {
		return nil, sparse.Inputf("refine", "the cheap matrix or the method is nil")
	}
	inner.Tol = cmp.Or(inner.Tol, 1e-4)
	var products int
	var timing Timing
	res, err := solve(ctx, method{name: "refine", hostOnly: true, vectors: 3, iterate: linear(func(t *task) error {
		r, d := t.Zero(), t.Zero()
		host := t.Space.(*space.Host)
		for {
			if done, err := t.start(r, 0.5); done {
				return err
			}
			switch {
			case t.slowStarts > 0:
				return t.convergenceError(ErrStagnation, "the cheap matrix is too far from the matrix of the system")
			case t.res.Iterations >= t.opt.MaxIter:
				return t.convergenceError(ErrNotConverged, "")
			}
			norm := t.res.Residual * t.norm
			t.Set(1/norm, r, r) // length 1: far from overflow and underflow in float32
			t.Set(0, r, d)
			in, err := solveCheap(ctx, f, host.V[r], host.V[d], inner)
			if in == nil {
				return err
			}
			products += in.Products
			timing.Products += in.Timing.Products
			timing.Precond += in.Timing.Precond
			if !space.Finite(in.Residual) {
				return t.convergenceError(ErrBreakdown, "with the cheap matrix: %v", err)
			}
			t.Add(norm, []float64{1}, []space.Vector{d}, t.x)
			t.res.Iterations++
			if t.opt.Progress != nil {
				t.opt.Progress(t.res.Iterations, in.Residual*norm/t.norm)
			}
		}
	})}, a, b, x, opt)
	if res != nil {
		res.Products += products
		res.Timing.Products += timing.Products
		res.Timing.Precond += timing.Precond
	}
	return res, err
}

// Richardson solves A x = b by iterative refinement with the preconditioner M of opt, such as a complete factor, or one in
// float32, which is computed and applied in half the time:
//
//	r = b - A x,  x = x + M r
//
// (Wilkinson, "Rounding errors in algebraic processes", 1963; with a factor in lower precision, Buttari, Dongarra, Langou,
// Langou, Luszczek and Kurzak, 2007.) It converges if the eigenvalues of I - M A are smaller than 1 in magnitude; for a
// factor in float32, if the condition number of A is below about 1e7. FGMRES with the same preconditioner converges for
// more matrices, and keeps vectors for that.
//
// An iteration takes one product. M gets residuals of length 1, which are far from overflow and underflow in float32.
// Richardson stores two vectors in addition to b and x, and one more where b has to be
// scaled. Result.History holds residuals computed from x. Three refinements in a row that do not reduce the residual
// by a tenth end with ErrStagnation. Other errors are those of CG.
func Richardson(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error) {
	if opt.Precond == nil {
		return nil, sparse.Inputf("preconditioner", "is nil: richardson needs one")
	}
	return solve(ctx, method{name: "richardson", iterate: linear(richardson), vectors: 3}, a, b, x, opt)
}

func richardson(t *task) error {
	r, z := t.Zero(), t.Zero()
	for {
		done, err := t.start(r, 0.9)
		if t.res.Iterations > 0 && t.opt.Progress != nil && t.Failed() == nil {
			t.opt.Progress(t.res.Iterations, t.res.Residual)
		}
		if done {
			return err
		}
		if err := t.Ended(); err != nil {
			return err
		}
		norm := t.res.Residual * t.norm
		t.Set(1/norm, r, r)
		t.Add(norm, []float64{1}, []space.Vector{t.Preconditioned(r, z)}, t.x)
		t.res.Iterations++
	}
}

// Single returns a float32 plan as an operator on float64 vectors. It rounds x to float32, computes the product in
// float32, and applies alpha and beta*y in float64. Values beyond the range of float32 become zero or infinite.
// Only one goroutine may use it at a time. For a nil plan it returns nil, which solvers reject.
func Single(plan *msrep.Plan[float32]) Operator {
	if plan == nil {
		return nil
	}
	return &single{plan: plan}
}

type single struct {
	plan *msrep.Plan[float32]
	x, y []float32
}

func (s *single) Dims() (rows, cols int) { return s.plan.Dims() }

func (s *single) SpMV(ctx context.Context, op msrep.Transpose, alpha float64, x []float64, beta float64, y []float64) error {
	if err := growSingle(&s.x, len(x)); err != nil {
		return err
	}
	if err := growSingle(&s.y, len(y)); err != nil {
		return err
	}
	sx, sy := s.x[:len(x)], s.y[:len(y)]
	err := s.Range(len(x), SumChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			sx[i] = float32(x[i])
		}
	})
	if err != nil {
		return err
	}
	if err := s.plan.SpMV(ctx, op, 1, sx, 0, sy); err != nil {
		return err
	}
	return s.Range(len(y), SumChunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v := float64(alpha * float64(sy[i]))
			if beta != 0 {
				v += float64(beta * y[i])
			}
			y[i] = v
		}
	})
}

// Range is Plan.Range of the plan.
func (s *single) Range(n, grain int, f func(lo, hi int)) error { return s.plan.Range(n, grain, f) }

// growSingle makes the capacity of *v at least n.
func growSingle(v *[]float32, n int) error {
	if cap(*v) >= n {
		return nil
	}
	if err := vectorsFit("x", "a copy in single precision takes", 4*int64(n), n); err != nil {
		return err
	}
	*v = make([]float32, n)
	return nil
}
