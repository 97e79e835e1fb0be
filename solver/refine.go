package solver

import (
	"cmp"
	"context"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// Method is CG, BiCGSTAB or GMRES.
type Method func(ctx context.Context, a Operator, b, x []float64, opt Options) (*Result, error)

// Refine solves A x = b by iterative refinement: as long as r = b - A x is too
// large, it solves F d = r for a matrix F that is close to A and cheaper to multiply
// by, and adds d to x. F may be the float32 matrix (Single) or a plan that reads fewer
// segments of each value (msrep.PlanOptions.Storage.Segments). opt is for the whole, its
// Precond and Restart are not used; inner is for each of the solves with F, and its Tol 0
// means 1e-4.
//
// Result.Iterations counts the refinements, History holds the true residuals
// (Progress gets those of the solves with F), and Products and Timing are those of
// all. A refinement that does not bring the residual to half of what it was is
// ErrStagnation: F is too far from A. What the solve with F
// says of its own convergence does not matter. Other errors are those of CG. Of a
// Distributed matrix, the cheap one is Distributed as well, in the same pieces.
func Refine(ctx context.Context, a, f Operator, solveCheap Method, b, x []float64, opt, inner Options) (*Result, error) {
	if given.Nothing(f) || solveCheap == nil {
		return nil, sparse.Inputf("refine", "the cheap matrix or the method is nil")
	}
	inner.Tol = cmp.Or(inner.Tol, 1e-4)
	var products int
	var timing Timing
	res, err := solve(ctx, method{name: "refine", hostOnly: true, vectors: 3, iterate: linear(func(t *task) error {
		r, d := t.zero(), t.zero()
		host := t.space.(*hostSpace)
		for {
			if done, err := t.start(r, 0.5); done {
				return err
			}
			switch {
			case t.slowStarts > 0:
				return t.convergenceError(ErrStagnation, "the cheap matrix is too far from the other")
			case t.res.Iterations >= t.opt.MaxIter:
				return t.convergenceError(ErrNotConverged, "")
			}
			norm := t.res.Residual * t.norm
			t.set(1/norm, r, r) // far from the ends of the range of float32
			t.set(0, r, d)
			in, err := solveCheap(ctx, f, host.v[r], host.v[d], inner)
			if in == nil {
				return err
			}
			products += in.Products
			timing.Products += in.Timing.Products
			timing.Precond += in.Timing.Precond
			if !finite(in.Residual) {
				return t.convergenceError(ErrBreakdown, "with the cheap matrix: %v", err)
			}
			t.add(norm, []float64{1}, []vector{d}, t.x)
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

// Single is a float32 plan as an operator on float64 vectors: x is rounded to
// float32, the product is computed in float32, and alpha and beta*y are float64.
// What leaves the range of float32 becomes zero or infinite. It is used by one
// goroutine at a time. It is nil for nil, which solvers refuse.
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

// Range is that of the plan.
func (s *single) Range(n, grain int, f func(lo, hi int)) error { return s.plan.Range(n, grain, f) }

// growSingle makes room for n elements.
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
