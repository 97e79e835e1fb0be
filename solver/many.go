package solver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/msrep-go/msrep/internal/given"
	"github.com/msrep-go/msrep/internal/mem"
	"github.com/msrep-go/msrep/msrep"
	"github.com/msrep-go/msrep/sparse"
)

// ManyOperator is an Operator that also multiplies several vectors at once, for example a *msrep.Plan[float64].
type ManyOperator interface {
	Operator
	// SpMM computes Y = alpha*op(A)*X + beta*Y; see msrep.Plan.SpMM.
	SpMM(ctx context.Context, op msrep.Transpose, alpha float64, x msrep.MultiVector[float64], beta float64, y msrep.MultiVector[float64]) error
}

var _ ManyOperator = (*msrep.Plan[float64])(nil)

// CGMany solves A x_j = b_j for several right-hand sides together, by CG. Each iteration multiplies the search
// directions of all systems in one SpMM, which reads the matrix once. Each system has its own CG, and leaves the iteration when it has converged or failed.
//
// b and x have one vector of n elements for each system. x holds the first guesses, and CGMany overwrites them
// with the solutions. It returns one Result for each system, in order. Result.Products counts the products that
// the system took part in; Result.Timing is the time of the whole call. Options.Progress is called with the
// largest relative residual of the systems in the iteration.
//
// The error joins the errors of the systems that did not converge: each is a *ConvergenceError, prefixed with the
// number of its system. Other errors are those of CG and come without results. The vectors are in host memory for
// devices of all kinds: 4 vectors of n elements for each system.
func CGMany(ctx context.Context, a ManyOperator, b, x msrep.MultiVector[float64], opt Options) ([]*Result, error) {
	if err := cmp.Or(given.Context(ctx), given.Check("matrix", a)); err != nil {
		return nil, err
	}
	n, sizes, err := checkMany(a, b, x)
	if err != nil {
		return nil, err
	}
	if err := opt.fill(n); err != nil {
		return nil, err
	}
	if err := checkPrecond(opt.Precond, n); err != nil {
		return nil, err
	}
	if err := manyFit(b.Count, n); err != nil {
		return nil, err
	}
	c := newManyCG(ctx, a, b, x, sizes, opt)
	if err := c.start(); err != nil {
		return nil, err
	}
	for len(c.columns) > 0 {
		if err := c.iterate(); err != nil {
			return nil, err
		}
	}
	return c.results()
}

// magnitudes holds the largest magnitude in b and in x, for each system.
type magnitudes struct{ b, x []float64 }

// checkMany checks the shapes and the elements of the systems.
func checkMany(a Operator, b, x msrep.MultiVector[float64]) (n int, sizes magnitudes, err error) {
	n, cols := a.Dims()
	if n != cols {
		return n, sizes, sparse.Inputf("matrix", "%d x %d: a system that is solved is square", n, cols)
	}
	if b.Count != x.Count {
		return n, sizes, sparse.Inputf("x", "%d vectors: b has %d", x.Count, b.Count)
	}
	if sizes.b, err = largestOfEach("b", b, n); err != nil {
		return n, sizes, err
	}
	if sizes.x, err = largestOfEach("x", x, n); err != nil {
		return n, sizes, err
	}
	if mem.Overlap(b.Val, x.Val) {
		return n, sizes, sparse.Inputf("x", "shares memory with b: the method would overwrite it")
	}
	return n, sizes, nil
}

// largestOfEach returns the largest magnitude in each vector of v. An element that is not finite is an error.
func largestOfEach(name string, v msrep.MultiVector[float64], n int) ([]float64, error) {
	if err := v.Check(name, n); err != nil {
		return nil, err
	}
	largest := make([]float64, v.Count)
	part := make([]float64, min(manyRows, n))
	for lo := 0; lo < n; lo += manyRows {
		part = part[:min(manyRows, n-lo)]
		for j := range largest {
			rowsFrom(v, lo).Get(j, part)
			for i, e := range part {
				size := math.Abs(e)
				if !(size <= math.MaxFloat64) {
					return nil, sparse.Inputf(name, "element %d of vector %d is %g: all must be finite", lo+i, j, e)
				}
				if size > largest[j] {
					largest[j] = size
				}
			}
		}
	}
	return largest, nil
}

// results returns the results of all systems and joins their errors.
func (c *manyCG) results() (out []*Result, err error) {
	var errs []error
	timing := Timing{Products: c.host.Products, Precond: c.host.Precond, Total: time.Since(c.begin)}
	for _, s := range c.all {
		s.res.Timing = timing
		out = append(out, s.res)
		if s.err != nil {
			errs = append(errs, fmt.Errorf("system %d: %w", s.number, s.err))
		}
	}
	return out, errors.Join(errs...)
}
